#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <kandinsky/error.hpp>
#include <kandinsky/threads.hpp>
#include <numbers>
#include "partition/fourier_curves.hpp"

#include "partition/fcc/fields.hpp"
#include "partition/fcc/polar_objective.hpp"
#include "support/fewer.hpp"

namespace kandinsky {
namespace {

using namespace partition::fcc;
using testing::OwnedField;

using Shape = std::function<double(double)>;  // radius at an angle, for the unit curve

/// The largest distance, along the rays, between the fitted curves and size * shape.
double worst_distance(const FourierCurves& curves, const std::vector<double>& sizes, const Shape& shape) {
    double worst = 0;
    for (int i = 0; i < 720; ++i)
        for (std::size_t l = 0; l < sizes.size(); ++l) {
            const double theta = i * std::numbers::pi / 360;
            worst = std::max(worst, std::abs(curves.radius(l, theta) - sizes[l] * shape(theta)));
        }
    return worst;
}

OwnedField constant_between(Grid grid, const std::vector<double>& sizes, const Shape& shape) {
    return testing::make_field(grid, 2, [&](double x, double y, std::size_t f) {
        const double r = std::hypot(x, y) / shape(std::atan2(y, x));
        const auto inside = std::count_if(sizes.begin(), sizes.end(), [&](double size) { return r <= size; });
        return f == 0 ? 0.9 * static_cast<double>(inside) : std::sqrt(static_cast<double>(inside));
    });
}

void expect_recovered(const char* name, const std::vector<double>& sizes, const Shape& shape) {
    const OwnedField field = constant_between({240, 320}, sizes, shape);
    for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
        // Area shares make the variances small against the penalty, which then pulls the innermost curve
        // inwards.
        const double penalty = variance == FourierVariance::mean ? 1e-3 : 1e-4;
        const FourierFit fit =
            fit_fourier_curves(field.view(), {.variance = variance, .penalty = penalty}, 1);
        const double worst = worst_distance(fit.curves, sizes, shape);
        EXPECT_LE(worst, 1.0) << name << (variance == FourierVariance::mean ? ", mean" : ", area");
        ::testing::Test::RecordProperty(fmt::format("{}_px_{}", name, static_cast<int>(variance)),
                                        fmt::format("{:.3f}", worst));
    }
}

TEST(FitFourierCurves, ConcentricDiscsAreRecoveredToOnePixel) {
    expect_recovered("discs", {34, 63, 95}, [](double) { return 1.0; });
}

TEST(FitFourierCurves, EllipsesAreRecoveredToOnePixel) {
    expect_recovered("ellipses", {33, 62, 93},
                     [](double t) { return 1.4 / std::hypot(std::cos(t), 1.4 * std::sin(t)); });
}

TEST(FitFourierCurves, ASmoothStarIsRecoveredToOnePixel) {
    expect_recovered("star", {36, 60, 84},
                     [](double t) { return 1 + 0.18 * std::cos(3 * t + 0.4) + 0.06 * std::sin(2 * t); });
}

TEST(FitFourierCurves, UnderHeavyNoiseTheResultIsNoWorseThanTheTruth) {
    // The step between two bands is as large as the noise of a pixel; without the blurred levels descent gets
    // stuck.
    const Shape shape = [](double t) { return 1 + 0.25 * std::cos(3 * t) + 0.1 * std::sin(2 * t); };
    const std::vector<double> sizes{17, 32, 47};
    Random random(3);
    const OwnedField field = testing::make_field({120, 160}, 4, [&](double x, double y, std::size_t) {
        const double r = std::hypot(x, y) / shape(std::atan2(y, x));
        const auto inside = std::count_if(sizes.begin(), sizes.end(), [&](double size) { return r <= size; });
        return -0.2 * static_cast<double>(inside) + 0.2 * random.normal();
    });
    for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
        const FourierOptions options{.variance = variance, .penalty = 1e-4};
        const PolarCurves truth{79.5, 59.5, 3,
                                [&](std::size_t l, double theta) { return sizes[l] * shape(theta); }};
        EXPECT_LE(fit_fourier_curves(field.view(), options, 1).objective.total,
                  polar_objective(field.view(), options, truth, 0.01).total);
    }
}

TEST(FitFourierCurves, AFreeCentreFindsDiscsThatAreOffTheMiddle) {
    const Grid grid{120, 160};
    const std::vector<double> sizes{14, 26, 40};
    const OwnedField field = testing::make_field(grid, 1, [&](double x, double y, std::size_t) {
        const double r = std::hypot(x - 21, y + 13);
        return static_cast<double>(
            std::count_if(sizes.begin(), sizes.end(), [&](double s) { return r <= s; }));
    });
    const FourierFit fit = fit_fourier_curves(field.view(), {.centre = FourierCentre::free}, 1);
    // Other centres can describe the same discs, so only the regions are compared.
    const std::vector<std::uint32_t> bands = fourier_bands(fit.curves, grid);
    std::size_t wrong = 0;
    for (std::size_t p = 0; p < grid.pixels(); ++p)
        wrong +=
            bands[p] != 3 - static_cast<std::uint32_t>(std::lround(static_cast<double>(field.features[p])));
    EXPECT_LT(wrong, 300u) << "of 19200 pixels; one pixel of slack along the edges is 500";
}

/// The radii that minimise the paper's objective for J = |x| / unit among circles: variances in closed form.
std::vector<double> one_dimensional_solution(double right, double bottom, double unit, double penalty) {
    double first = 0, second = 0;
    const int cells = 1000;
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j) {
            const double x = (i + 0.5) / cells * right / 2, y = (j + 0.5) / cells * bottom / 2;
            first += std::hypot(x, y), second += x * x + y * y;
        }
    const double area = right * bottom, pi = std::numbers::pi, limit = 0.5 * std::min(right, bottom);
    first *= area / (cells * cells), second *= area / (cells * cells);
    const auto value = [&](const std::vector<double>& r) {
        if (!(0 < r[0] && r[0] < r[1] && r[1] < r[2] && r[2] < limit)) return 1e9;
        double sum = 0, low = 0;
        const auto variance = [&](double m, double u, double q) {
            return (q / m - u * u / (m * m)) / (unit * unit);
        };
        for (const double high : r) {
            sum +=
                variance(pi * (high * high - low * low), 2 * pi / 3 * (std::pow(high, 3) - std::pow(low, 3)),
                         pi / 2 * (std::pow(high, 4) - std::pow(low, 4)));
            low = high;
        }
        sum += variance(area - pi * low * low, first - 2 * pi / 3 * std::pow(low, 3),
                        second - pi / 2 * std::pow(low, 4));
        const double gaps = 1 / (r[1] - r[0]) + 1 / (r[2] - r[1]) + 1 / (limit - r[2]);
        return sum + penalty * 2 * pi * limit * gaps;
    };
    std::vector<double> best{limit / 4, limit / 2, 0.75 * limit};
    for (double step = limit / 8; step > 1e-6; step *= 0.7)
        for (int sweep = 0; sweep < 20; ++sweep)
            for (std::size_t l = 0; l < 3; ++l)
                for (const double move : {-step, step}) {
                    std::vector<double> next = best;
                    next[l] += move;
                    if (value(next) < value(best)) best = next;
                }
    return best;
}

TEST(FitFourierCurves, ARadiallyLinearFieldGivesTheRadiiOfAOneDimensionalSolver) {
    const Grid grid{161, 181};
    const OwnedField field =
        testing::make_field(grid, 1, [](double x, double y, std::size_t) { return std::hypot(x, y) / 50; });
    const FourierFit fit = fit_fourier_curves(field.view(), {.limit = FourierLimit::circle}, 3);
    const std::vector<double> radii = one_dimensional_solution(180, 160, 50, 1e-3);
    EXPECT_LT(worst_distance(fit.curves, radii, [](double) { return 1.0; }), 0.25)
        << fmt::format("{:.2f} {:.2f} {:.2f}", radii[0], radii[1], radii[2]);
}

TEST(FitFourierCurves, IsNoWorseThanAnyCirclesInItsOwnObjective) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        OwnedField field = testing::smooth_field({60, 80}, 3, seed);
        Random random(seed, 5);
        if (seed % 2 == 1)
            for (std::size_t p = 0; p < field.grid.pixels(); ++p)
                if (random.uniform() < 0.3) field.remove(p);
        for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
            const FourierOptions options{.variance = variance};
            const FourierFit fit = fit_fourier_curves(field.view(), options, seed);
            double best = std::numeric_limits<double>::infinity();
            for (int trial = 0; trial < 400; ++trial) {
                std::vector<double> radii{random.uniform(3, 40), random.uniform(3, 40),
                                          random.uniform(3, 60)};
                std::sort(radii.begin(), radii.end());
                const double dx = random.uniform(-1, 1) * std::min(12.0, radii[0]) * 0.7;
                const double dy = random.uniform(-1, 1) * std::min(12.0, radii[0]) * 0.7;
                const PolarCurves circles = polar_circles(39.5, 29.5, 39.5 + dx, 29.5 + dy, radii);
                best = std::min(best, polar_objective(field.view(), options, circles).total);
            }
            EXPECT_LE(fit.objective.total, best) << "seed " << seed;
        }
    }
}

TEST(FitFourierCurves, ReportsTheObjectiveThatItsCurvesHave) {
    OwnedField field = testing::smooth_field({50, 40}, 2, 3);
    for (std::size_t p = 0; p < 300; ++p) field.remove(p);
    for (const FourierCentre centre : {FourierCentre::middle, FourierCentre::free}) {
        const FourierOptions options{.order = 5, .centre = centre};
        const FourierFit fit = fit_fourier_curves(field.view(), options, 1);
        const FourierObjective again = fourier_objective(field.view(), options, fit.curves);
        EXPECT_NEAR(again.total, fit.objective.total, 1e-12);
        EXPECT_NEAR(fit.starts[fit.best].objective, fit.objective.total, 1e-12);
        const PolarCurves same{fit.curves.centre_column, fit.curves.centre_row, 3,
                               [&](std::size_t l, double theta) { return fit.curves.radius(l, theta); }};
        EXPECT_NEAR(polar_objective(field.view(), options, same, 1e-6).total, fit.objective.total, 1e-9);
        for (const FourierStart& start : fit.starts) EXPECT_GE(start.objective, fit.objective.total);
    }
}

TEST(FitFourierCurves, TheVarianceOfItsRegionMapIsThatOfItsIntegrals) {
    const OwnedField field = testing::smooth_field({150, 200}, 2, 12);
    for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
        const FourierFit fit = fit_fourier_curves(field.view(), {.variance = variance, .starts = 1}, 1);
        const double pixels = region_variance(field.view(), fourier_bands(fit.curves, field.grid), variance);
        EXPECT_NEAR(pixels / fit.objective.variance, 1.0, 0.03);
    }
}

/// Expects positive and nested curves inside the limit, at many more angles than the fit checks.
void expect_admissible(const FourierCurves& curves, Grid grid, FourierLimit limit, const std::string& where) {
    const double right = grid.width - 1.0, bottom = grid.height - 1.0;
    const double circle = std::min(std::min(curves.centre_column, right - curves.centre_column),
                                   std::min(curves.centre_row, bottom - curves.centre_row));
    for (int i = 0; i < 3000; ++i) {
        const double theta = i * 2 * std::numbers::pi / 3000;
        double before = 0;
        for (std::size_t l = 0; l < curves.coefficients.size(); ++l) {
            const double r = curves.radius(l, theta);
            ASSERT_GT(r, before) << where << ", curve " << l << " at " << theta;
            before = r;
        }
        const double x = curves.centre_column + before * std::cos(theta),
                     y = curves.centre_row + before * std::sin(theta);
        ASSERT_TRUE(x >= 0 && x <= right && y >= 0 && y <= bottom) << where;
        if (limit == FourierLimit::circle) {
            ASSERT_LE(before, circle) << where;
        }
    }
}

TEST(FitFourierCurves, CurvesOfAThousandRandomFieldsAreAdmissibleAndNoWorseThanTheirStart) {
    for (std::uint64_t trial = 0; trial < 1000 / test::kFewer; ++trial) {
        Random random(99, trial);
        Grid grid{static_cast<std::uint32_t>(3 + random.below(40)),
                  static_cast<std::uint32_t>(3 + random.below(40))};
        if (trial % 5 == 0) grid.width = 4 * grid.height;
        if (trial % 5 == 1) grid.height = 4 * grid.width;
        const std::size_t features = 1 + random.below(4);
        OwnedField field = trial % 3 == 0 ? testing::smooth_field(grid, features, trial)
                                          : testing::noise_field(grid, features, trial);
        if (trial % 4 == 1) {
            const double density = random.uniform();
            for (std::size_t p = 0; p < grid.pixels(); ++p)
                if (random.uniform() > density) field.remove(p);
        }
        if (trial % 50 == 7)
            for (float& value : field.features) value = 0.25f;
        const FourierOptions options{
            .curves = static_cast<std::uint32_t>(1 + random.below(trial % 7 == 0 ? 8 : 4)),
            .order = static_cast<std::uint32_t>(1 + random.below(trial % 11 == 0 ? 12 : 6)),
            .limit = random.below(2) == 0 ? FourierLimit::rectangle : FourierLimit::circle,
            .centre = random.below(3) == 0 ? FourierCentre::free : FourierCentre::middle,
            .variance = random.below(2) == 0 ? FourierVariance::mean : FourierVariance::area,
            .penalty = std::pow(10.0, random.uniform(-6, -1)),
            .angles = 24,
            .nodes = 5,
            .starts = 2,
            .iterations = 25};
        const std::string where = fmt::format("trial {}, {} x {}", trial, grid.height, grid.width);
        const FourierFit fit = fit_fourier_curves(field.view(), options, trial);
        if (fit.curves.coefficients.empty()) {
            bool any = false;
            for (const std::uint32_t count : field.counts) any = any || count > 0;
            EXPECT_FALSE(any) << where;
            continue;
        }
        ASSERT_EQ(fit.curves.coefficients.size(), options.curves) << where;
        expect_admissible(fit.curves, grid, options.limit, where);
        EXPECT_TRUE(std::isfinite(fit.objective.total)) << where;
        for (const FourierStart& start : fit.starts)
            EXPECT_LE(start.objective, start.start_objective) << where;
        for (const double variance : fit.objective.band_variance) EXPECT_GE(variance, 0.0) << where;
    }
}

TEST(FitFourierCurves, IsTheSameForAnyNumberOfThreadsAndDiffersByTheSeed) {
    OwnedField field = testing::noise_field({40, 50}, 3, 8);
    for (std::size_t p = 0; p < 200; ++p) field.remove(7 * p);
    FourierFit one, two;
    {
        const ThreadLimit limit(1);
        one = fit_fourier_curves(field.view(), {}, 5);
    }
    {
        const ThreadLimit limit(2);
        two = fit_fourier_curves(field.view(), {}, 5);
    }
    EXPECT_EQ(one.starts, two.starts);
    EXPECT_EQ(one.best, two.best);
    EXPECT_EQ(one.curves.coefficients, two.curves.coefficients);
    const FourierFit other = fit_fourier_curves(field.view(), {}, 6);
    EXPECT_EQ(one.starts[0], other.starts[0]) << "the first start has no noise";
    EXPECT_NE(one.starts[1].start_objective, other.starts[1].start_objective);
}

TEST(FitFourierCurves, MoreStartsAreNeverWorse) {
    const OwnedField field = testing::noise_field({30, 30}, 2, 4);
    double before = std::numeric_limits<double>::infinity();
    for (const std::uint32_t starts : {1u, 2u, 4u, 7u}) {
        const FourierFit fit = fit_fourier_curves(field.view(), {.starts = starts}, 5);
        EXPECT_EQ(fit.starts.size(), starts);
        EXPECT_LE(fit.objective.total, before);
        before = fit.objective.total;
    }
}

TEST(FitFourierCurves, StopsWhenAskedTo) {
    struct Stop : Progress {
        [[nodiscard]] bool cancelled() const override { return true; }
    } stop;
    const OwnedField field = testing::smooth_field({30, 30}, 2, 4);
    EXPECT_THROW((void)fit_fourier_curves(field.view(), {}, 5, stop), Interrupted);
}

TEST(FitFourierCurves, OptionsOutOfRangeAndFieldsThatDoNotFitAreRefused) {
    const OwnedField field = testing::smooth_field({10, 10}, 2, 4);
    const auto kind = [&](const FourierField& data, const FourierOptions& options) {
        try {
            (void)fit_fourier_curves(data, options, 1);
        } catch (const Error& error) {
            return static_cast<int>(error.kind());
        }
        return 0;
    };
    EXPECT_EQ(kind(field.view(), {}), 0);
    for (const FourierOptions& bad :
         {FourierOptions{.curves = 0}, FourierOptions{.curves = 17}, FourierOptions{.order = 0},
          FourierOptions{.order = 33}, FourierOptions{.penalty = -1}, FourierOptions{.penalty = std::nan("")},
          FourierOptions{.angles = 1}, FourierOptions{.nodes = 0}, FourierOptions{.starts = 0}})
        EXPECT_EQ(kind(field.view(), bad), static_cast<int>(ErrorKind::usage));
    FourierField wrong = field.view();
    wrong.grid.height = 11;
    EXPECT_EQ(kind(wrong, {}), static_cast<int>(ErrorKind::data));
}

TEST(PolarCircles, AreTheSameCircleSeenFromAnotherPoint) {
    const PolarCurves circles = polar_circles(10, 12, 13, 11, {5, 9});
    for (int i = 0; i < 50; ++i)
        for (std::size_t l = 0; l < 2; ++l) {
            const double theta = i * 0.13, r = circles.radius(l, theta);
            EXPECT_NEAR(std::hypot(10 + r * std::cos(theta) - 13, 12 + r * std::sin(theta) - 11),
                        l == 0 ? 5 : 9, 1e-12);
        }
    EXPECT_EQ(polar_circles(0, 0, 10, 0, {3}).radius(0, std::numbers::pi), 0.0);
}

TEST(PolarObjective, CirclesThatLeaveTheImageAreClippedAndFinite) {
    const OwnedField field = testing::smooth_field({60, 80}, 2, 2);
    for (const FourierLimit limit : {FourierLimit::rectangle, FourierLimit::circle}) {
        const FourierObjective value =
            polar_objective(field.view(), {.limit = limit}, polar_circles(39.5, 29.5, 45, 25, {12, 35, 300}));
        EXPECT_TRUE(std::isfinite(value.total));
        EXPECT_EQ(value.band_area.size(), 4u);
        double area = 0;
        for (const double a : value.band_area) area += a;
        EXPECT_NEAR(area, 59.0 * 79.0, 20.0);
    }
    EXPECT_THROW((void)polar_objective(field.view(), {}, polar_circles(39.5, 29.5, 45, 25, {12}), 40.0),
                 Error);
    EXPECT_THROW((void)polar_objective(field.view(), {}, polar_circles(-1, 29.5, 45, 25, {12})), Error);
}

TEST(RegionVariance, IsTheVarianceWithinRegionsOfPixelsWithData) {
    OwnedField field = testing::make_field({1, 6}, 1, [](double, double, std::size_t) { return 0; });
    field.features = {1, 3, 10, 10, 16, 5};
    field.remove(5);
    const std::vector<std::uint32_t> region{0, 0, 2, 2, 2, 0};
    EXPECT_DOUBLE_EQ(region_variance(field.view(), region, FourierVariance::mean), 1.0 + 8.0);
    EXPECT_DOUBLE_EQ(region_variance(field.view(), region, FourierVariance::area), (2.0 + 24.0) / 5);
}

}  // namespace
}  // namespace kandinsky
