#include "partition/fcc/quadrature.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "partition/fcc/bands.hpp"
#include "partition/fcc/fields.hpp"

namespace kandinsky::partition::fcc {
namespace {

/// u = x^i y^j about a point, w = 1: the same interface as the bilinear field, without its interpolation.
struct Monomial {
    double column, row;
    int i, j;
    void sample(double at_column, double at_row, double* value, double* by_column, double* by_row) const {
        const double x = at_column - column, y = at_row - row;
        value[0] = 1, by_column[0] = by_row[0] = 0;
        value[1] = std::pow(x, i) * std::pow(y, j);
        by_column[1] = i == 0 ? 0 : i * std::pow(x, i - 1) * std::pow(y, j);
        by_row[1] = j == 0 ? 0 : j * std::pow(x, i) * std::pow(y, j - 1);
    }
};

/// Integral of x^i y^j over the ellipse with half-axes a, b.
double over_ellipse(double a, double b, int i, int j) {
    if (i % 2 != 0 || j % 2 != 0) return 0;
    return std::pow(a, i + 1) * std::pow(b, j + 1) * 2 * std::tgamma(0.5 * (i + 1)) *
           std::tgamma(0.5 * (j + 1)) / ((i + j + 2) * std::tgamma(0.5 * (i + j) + 1));
}

double over_rectangle(double half_width, double half_height, int i, int j) {
    if (i % 2 != 0 || j % 2 != 0) return 0;
    return 4 * std::pow(half_width, i + 1) / (i + 1) * std::pow(half_height, j + 1) / (j + 1);
}

double ellipse_radius(double a, double b, double cosine, double sine) {
    return a * b / std::hypot(b * cosine, a * sine);
}

TEST(GaussLegendre, IsExactForPolynomialsOfDegreeTwiceTheNodesLessOne) {
    for (const std::size_t n : {1, 2, 3, 5, 12, 13, 24, 64, 128}) {
        const Rule rule = gauss_legendre(n);
        ASSERT_EQ(rule.node.size(), n);
        for (std::size_t degree = 0; degree < 2 * n; ++degree) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k) sum += rule.weight[k] * std::pow(rule.node[k], degree);
            EXPECT_NEAR(sum, 1.0 / static_cast<double>(degree + 1), 1e-13)
                << n << " nodes, degree " << degree;
        }
        for (std::size_t k = 1; k < n; ++k) EXPECT_LT(rule.node[k - 1], rule.node[k]);
    }
}

TEST(GaussLegendre, IsNotExactForHigherDegrees) {
    const Rule rule = gauss_legendre(2);
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k) sum += rule.weight[k] * std::pow(rule.node[k], 4);
    EXPECT_GT(std::abs(sum - 0.2), 1e-3);
}

TEST(FourierBasis, IsTheComplexSumAndItsSlopeTheDerivative) {
    const std::size_t order = 6;
    const double theta = 0.83, step = 1e-6;
    std::vector<double> here(2 * order - 1), slope(here), after(here), before(here);
    fourier_basis(std::cos(theta), std::sin(theta), order, here.data());
    fourier_basis_slope(std::cos(theta), std::sin(theta), order, slope.data());
    fourier_basis(std::cos(theta + step), std::sin(theta + step), order, after.data());
    fourier_basis(std::cos(theta - step), std::sin(theta - step), order, before.data());
    EXPECT_EQ(here[0], 1.0);
    for (std::size_t k = 1; k < order; ++k) {
        EXPECT_NEAR(here[2 * k - 1], 2 * std::cos(static_cast<double>(k) * theta), 1e-14);
        EXPECT_NEAR(here[2 * k], -2 * std::sin(static_cast<double>(k) * theta), 1e-14);
    }
    for (std::size_t t = 0; t < here.size(); ++t)
        EXPECT_NEAR(slope[t], (after[t] - before[t]) / (2 * step), 1e-8);
}

TEST(SegmentSums, IntegratePolynomialsOverDiscsAndEllipsesToTenDigits) {
    const Rule rule = gauss_legendre(12);
    const Directions directions = equispaced(192);
    for (const auto& [a, b] : {std::pair{0.7, 0.7}, {1.3, 0.8}, {0.5, 0.9}})
        for (int i = 0; i <= 6; ++i)
            for (int j = 0; i + j <= 6; ++j) {
                const Monomial monomial{3.0, 2.0, i, j};
                SegmentSums sums(3);
                double area = 0, integral = 0, square = 0;
                for (std::size_t d = 0; d < directions.size(); ++d) {
                    const double c = directions.cosine[d], s = directions.sine[d];
                    sums.integrate<false>(monomial, rule,
                                          Segment{.centre_column = 3.0,
                                                  .centre_row = 2.0,
                                                  .toward_column = c,
                                                  .toward_row = s,
                                                  .low = 0,
                                                  .high = ellipse_radius(a, b, c, s)});
                    const double step = 2 * std::numbers::pi / static_cast<double>(directions.size());
                    area += step * sums.value[0];
                    integral += step * sums.value[1];
                    square += step * sums.value[2];
                }
                EXPECT_NEAR(area, std::numbers::pi * a * b, 1e-10);
                EXPECT_NEAR(integral, over_ellipse(a, b, i, j), 1e-10) << i << ' ' << j;
                EXPECT_NEAR(square, over_ellipse(a, b, 2 * i, 2 * j), 1e-10) << i << ' ' << j;
            }
}

TEST(BorderRule, IntegratesOverTheRectangleMinusAnEllipseToTenDigits) {
    // From a centre that is not the middle, too: the rays end at fixed border points.
    const Frame frame{4.0, 2.0, FourierLimit::rectangle};
    const BorderRule border(frame, 160);
    const Rule rule = gauss_legendre(12);
    for (const auto& [column, row] : {std::pair{2.0, 1.0}, {1.7, 1.1}})
        for (int i = 0; i <= 4; ++i)
            for (int j = 0; i + j <= 4; ++j) {
                const double a = 0.8, b = 0.6;
                SegmentSums sums(3);
                double outside = 0, inside = 0;
                for (std::size_t k = 0; k < border.size(); ++k) {
                    const BorderRay ray = border.ray(k, column, row);
                    const double low = ellipse_radius(a, b, ray.cosine, ray.sine) / ray.length;
                    for (const bool inner : {true, false}) {
                        sums.integrate<false>(Monomial{2.0, 1.0, i, j}, rule,
                                              Segment{.centre_column = column,
                                                      .centre_row = row,
                                                      .toward_column = ray.toward_column,
                                                      .toward_row = ray.toward_row,
                                                      .low = inner ? 0 : low,
                                                      .high = inner ? low : 1,
                                                      .pivot = 1});
                        (inner ? inside : outside) += ray.weight * sums.value[1];
                    }
                }
                EXPECT_NEAR(inside + outside, over_rectangle(2.0, 1.0, i, j), 1e-10);
                if (column == 2.0) {
                    EXPECT_NEAR(inside, over_ellipse(a, b, i, j), 1e-10) << i << ' ' << j;
                }
            }
}

TEST(LimitRadius, ReachesTheBorderAndHasTheDerivativeOfFiniteDifferences) {
    for (const FourierLimit limit : {FourierLimit::rectangle, FourierLimit::circle}) {
        const Frame frame{31.0, 12.0, limit};
        const Directions directions = equispaced(37);
        const double column = 13.3, row = 4.7, step = 1e-6;
        for (std::size_t d = 0; d < directions.size(); ++d) {
            const double c = directions.cosine[d], s = directions.sine[d];
            const LimitRadius here = limit_radius(frame, column, row, c, s);
            const auto radius = [&](double x, double y) { return limit_radius(frame, x, y, c, s).radius; };
            EXPECT_NEAR(here.by_column,
                        (radius(column + step, row) - radius(column - step, row)) / (2 * step), 1e-6);
            EXPECT_NEAR(here.by_row, (radius(column, row + step) - radius(column, row - step)) / (2 * step),
                        1e-6);
            const double x = column + here.radius * c, y = row + here.radius * s;
            if (limit == FourierLimit::circle)
                EXPECT_DOUBLE_EQ(here.radius, 4.7);
            else
                EXPECT_NEAR(std::min(std::min(x, 31.0 - x), std::min(y, 12.0 - y)), 0.0, 1e-12);
        }
    }
}

TEST(BilinearField, InterpolatesBetweenPixelsAndIgnoresPixelsWithoutData) {
    auto field =
        testing::make_field({3, 4}, 1, [](double x, double y, std::size_t) { return 2 * x - y + x * y; });
    const auto j_at = [&](double column, double row) {
        const BilinearField bilinear(field.view());
        double v[2], dx[2], dy[2];
        bilinear.sample(column, row, v, dx, dy);
        return std::pair{v[0], v[1] / v[0]};
    };
    const auto [w, first] = j_at(0.5, 0.25);
    const auto [w2, second] = j_at(2.5, 1.5);
    EXPECT_DOUBLE_EQ(w, 1.0);
    EXPECT_DOUBLE_EQ(w2, 1.0);
    const auto exact = [](double column, double row) {
        const double x = column - 1.5, y = row - 1;
        return 2 * x - y + x * y;
    };
    EXPECT_NEAR(second - first, exact(2.5, 1.5) - exact(0.5, 0.25), 1e-6);
    field.remove(0);
    const auto [w3, third] = j_at(0.5, 0.5);
    EXPECT_DOUBLE_EQ(w3, 0.75);
    EXPECT_TRUE(std::isfinite(third));
}

TEST(BilinearField, BlurKeepsConstantsAndTheTotalAwayFromTheBorder) {
    auto field = testing::make_field({40, 40}, 1, [](double x, double y, std::size_t) {
        return std::abs(x) < 1 && std::abs(y) < 1 ? 1.0 : 0.0;
    });
    const BilinearField plain(field.view()), blurred = plain.blurred(3.0);
    double before = 0, after = 0, spread = 0;
    for (std::size_t y = 0; y < 40; ++y)
        for (std::size_t x = 0; x < 40; ++x) {
            EXPECT_NEAR(blurred.pixel(x, y)[0], 1.0, 1e-12);
            const double rise = blurred.pixel(x, y)[1] - plain.pixel(0, 0)[1];
            before += plain.pixel(x, y)[1] - plain.pixel(0, 0)[1];
            after += rise;
            spread += rise * (static_cast<double>(x) - 19.5) * (static_cast<double>(x) - 19.5);
        }
    EXPECT_NEAR(before, after, 1e-9);
    EXPECT_NEAR(std::sqrt(spread / after), 3.0, 0.6);
}

}  // namespace
}  // namespace kandinsky::partition::fcc
