#include "partition/fcc/starts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "partition/fcc/bands.hpp"

namespace kandinsky::partition::fcc {

namespace {
constexpr std::uint64_t kNoisePurpose = 0x666363;  // "fcc"
constexpr double kNoise = 0.03;         // standard deviation of the coefficients' noise; radii are of order 1
constexpr std::size_t kShortList = 12;  // candidates that are judged by the true objective

/// A family of nested convex curves about a point: the level sets of a size function. The points of size <= 1
/// are an ellipse (power 2) or a rounded rectangle (power 4) of the given half-axes, in pixels.
struct Gauge {
    double column = 0, row = 0;
    double half_width = 1, half_height = 1;
    int power = 2;

    [[nodiscard]] double size(double at_column, double at_row) const {
        const double x = (at_column - column) / half_width, y = (at_row - row) / half_height;
        if (power == 2) return std::sqrt(x * x + y * y);
        return std::sqrt(std::sqrt(x * x * x * x + y * y * y * y));
    }
};

/// The best m levels of a gauge.
struct RadialFit {
    std::vector<double> levels;  ///< ascending sizes
    double objective = 0;        ///< of the binned problem
};

constexpr std::size_t kBins = 96;
constexpr std::size_t kThinnedPixels = 6000;
constexpr double kInside = 0.97;  // the largest level is at most this part of the limit

/// Gives the largest level that stays inside the limit, and the penalty of the last curve at a level.
struct Outside {
    std::vector<double> reach, limit;  // per direction: radius of level 1, distance to the limit
    double largest = kInfinity;

    Outside(const Frame& frame, const Gauge& gauge) {
        const Directions directions = equispaced(48);
        for (std::size_t i = 0; i < directions.size(); ++i) {
            const double c = directions.cosine[i], s = directions.sine[i];
            reach.push_back(1.0 / gauge.size(gauge.column + c, gauge.row + s));
            limit.push_back(limit_radius(frame, gauge.column, gauge.row, c, s).radius);
            largest = std::min(largest, kInside * limit.back() / reach.back());
        }
    }
    /// Mean over the directions of 1 / (limit - level * reach).
    [[nodiscard]] double closeness(double level) const {
        double sum = 0;
        for (std::size_t i = 0; i < reach.size(); ++i) sum += 1.0 / (limit[i] - level * reach[i]);
        return sum / static_cast<double>(reach.size());
    }
    [[nodiscard]] double inverse_reach() const {
        double sum = 0;
        for (const double r : reach) sum += 1.0 / r;
        return sum / static_cast<double>(reach.size());
    }
};

/// Solves the one-dimensional problem exactly on bins. Pixels are divided into bins by Gauge::size(), and
/// dynamic programming finds the m cuts that minimise the variances plus the nesting penalty. Levels are
/// above `smallest`, and every band has at least `least_area` pixels of data. nullopt if there is no such
/// choice. Cost: O(features (used pixels + bins^2) + m bins^2), with about kThinnedPixels used pixels.
std::optional<RadialFit> fit_levels(const BilinearField& field, const FourierOptions& options,
                                    const Gauge& gauge, double smallest, double least_area) {
    const Frame frame{field.right(), field.bottom(), options.limit};
    const Outside outside(frame, gauge);
    const std::size_t curves = options.curves, moments = field.features() + 2;
    if (!(outside.largest > 0) || smallest >= outside.largest) return std::nullopt;

    // Prefix sums [bin edge][moment]; the bin beyond the last edge takes the rest of the image.
    std::vector<double> sums((kBins + 2) * moments, 0.0);
    const double width = outside.largest / static_cast<double>(kBins);
    const double pixels = static_cast<double>(field.width() * field.height());
    const auto step =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(pixels / double{kThinnedPixels})));
    for (std::size_t y = (step - 1) / 2; y < field.height(); y += step)
        for (std::size_t x = (step - 1) / 2; x < field.width(); x += step) {
            const double* value = field.pixel(x, y);
            if (!(value[0] > 0)) continue;
            const double size = gauge.size(static_cast<double>(x), static_cast<double>(y));
            const auto bin = static_cast<std::size_t>(std::min(size / width, static_cast<double>(kBins)));
            double* sum = sums.data() + (bin + 1) * moments;
            sum[0] += value[0];
            for (std::size_t j = 1; j < moments - 1; ++j) {
                sum[j] += value[j];
                sum[moments - 1] += value[j] * value[j] / value[0];
            }
        }
    for (std::size_t i = moments; i < sums.size(); ++i) sums[i] += sums[i - moments];
    const double total = sums[(kBins + 1) * moments];
    if (!(total > 0)) return std::nullopt;
    const double scarce = std::max(1.0, least_area / static_cast<double>(step * step));

    const auto cost_of = [&](std::size_t from, std::size_t to) {
        const double* a = sums.data() + from * moments;
        const double* b = sums.data() + to * moments;
        const double mass = b[0] - a[0];
        if (!(mass >= scarce)) return kInfinity;
        double norm = 0;
        for (std::size_t j = 1; j < moments - 1; ++j) norm += (b[j] - a[j]) * (b[j] - a[j]);
        const double scatter = std::max(0.0, b[moments - 1] - a[moments - 1] - norm / mass);
        return scatter / (options.variance == FourierVariance::mean ? mass : total);
    };
    std::vector<double> costs(kBins * (kBins + 1));
    for (std::size_t from = 0; from < kBins; ++from)
        for (std::size_t to = from + 1; to <= kBins; ++to) costs[from * (kBins + 1) + to] = cost_of(from, to);
    const auto cost = [&](std::size_t from, std::size_t to) { return costs[from * (kBins + 1) + to]; };
    const double unit = options.penalty * 2.0 * std::numbers::pi * frame.scale();
    const double thinness = unit * outside.inverse_reach() / width;  // penalty of a gap of one bin
    const auto first = static_cast<std::size_t>(std::floor(smallest / width)) + 1;

    // best[l][e]: bands 0 .. l end at bin edge e.
    std::vector<std::vector<double>> best(curves, std::vector<double>(kBins + 1, kInfinity));
    std::vector<std::vector<std::size_t>> from(curves, std::vector<std::size_t>(kBins + 1, 0));
    for (std::size_t e = first; e <= kBins; ++e) best[0][e] = cost(0, e);
    for (std::size_t l = 1; l < curves; ++l)
        for (std::size_t e = first + l; e <= kBins; ++e)
            for (std::size_t d = first + l - 1; d < e; ++d) {
                if (!std::isfinite(best[l - 1][d])) continue;
                const double value = best[l - 1][d] + cost(d, e) + thinness / static_cast<double>(e - d);
                if (value < best[l][e]) best[l][e] = value, from[l][e] = d;
            }
    RadialFit fit{.levels = std::vector<double>(curves), .objective = kInfinity};
    std::size_t last = 0;
    for (std::size_t e = first; e <= kBins; ++e) {
        const double value = best[curves - 1][e] + cost_of(e, kBins + 1) +
                             unit * outside.closeness(width * static_cast<double>(e));
        if (value < fit.objective) fit.objective = value, last = e;
    }
    if (!std::isfinite(fit.objective)) return std::nullopt;
    for (std::size_t l = curves; l-- > 0;) {
        fit.levels[l] = width * static_cast<double>(last);
        last = from[l][last];
    }
    return fit;
}

struct Candidate {
    std::string shape;
    Gauge gauge;
    std::vector<double> levels;
    double rank = kInfinity;
    std::vector<double> unknowns;
};

std::vector<Candidate> candidates(const BilinearField& field, const CurveObjective& objective,
                                  const FourierOptions& options) {
    const double mid_column = objective.middle_column(), mid_row = objective.middle_row();
    const double scale = objective.bands().frame().scale();
    std::vector<std::pair<double, double>> centres{{mid_column, mid_row}};
    for (const double x : {-0.5, -0.25, 0.0, 0.25, 0.5})
        for (const double y : {-0.5, -0.25, 0.0, 0.25, 0.5})
            if (x != 0 || y != 0) centres.emplace_back(mid_column * (1 + x), mid_row * (1 + y));
    double mass = 0, column = 0, row = 0;
    for (std::size_t y = 0; y < field.height(); ++y)
        for (std::size_t x = 0; x < field.width(); ++x) {
            const double w = field.pixel(x, y)[0];
            mass += w, column += w * static_cast<double>(x), row += w * static_cast<double>(y);
        }
    if (mass > 0 && mass < static_cast<double>(field.width() * field.height()))
        centres.emplace_back(std::clamp(column / mass, 0.1 * mid_column, 1.9 * mid_column),
                             std::clamp(row / mass, 0.1 * mid_row, 1.9 * mid_row));

    std::vector<Candidate> list;
    const auto add = [&](const char* shape, double width, double height, int power, std::size_t count) {
        for (std::size_t c = 0; c < count; ++c)
            list.push_back({.shape = shape,
                            .gauge = {centres[c].first, centres[c].second, width, height, power},
                            .levels = {},
                            .unknowns = {}});
    };
    add("circles", scale, scale, 2, centres.size());
    if (options.limit == FourierLimit::rectangle) {
        add("ellipses", mid_column, mid_row, 2, centres.size());
        add("rounded rectangles", mid_column, mid_row, 4, 1);
    }
    add("wide ellipses", scale, 0.5 * scale, 2, centres.size());
    add("tall ellipses", 0.5 * scale, scale, 2, centres.size());
    return list;
}

/// Makes curves feasible: first by smoothing, then by shrinking.
void repair(const CurveObjective& objective, std::size_t curves, std::vector<double>& unknowns,
            Workspace& workspace) {
    const std::size_t terms = objective.terms();
    for (int trial = 0; trial < 200 && !objective.feasible(unknowns, workspace); ++trial)
        for (std::size_t l = 0; l < curves; ++l)
            for (std::size_t t = 0; t < terms; ++t)
                if (trial < 12 ? t > 0 : true) unknowns[l * terms + t] *= t > 0 ? 0.7 : 0.97;
}

/// Levels of a gauge as Fourier coefficients about a centre that lies inside the smallest of them.
std::vector<double> project(const CurveObjective& objective, const FourierOptions& options,
                            const Gauge& gauge, const std::vector<double>& levels, Workspace& workspace) {
    const bool free = options.centre == FourierCentre::free;
    FourierCurves curves{.centre_column = free ? gauge.column : objective.middle_column(),
                         .centre_row = free ? gauge.row : objective.middle_row(),
                         .scale = objective.bands().frame().scale(),
                         .order = options.order,
                         .coefficients = {}};
    const Directions& directions = objective.bands().directions();
    const double reach = objective.bands().frame().right + objective.bands().frame().bottom;
    std::vector<double> basis(objective.terms());
    for (const double level : levels) {
        std::vector<double> coefficients(objective.terms(), 0.0);
        for (std::size_t i = 0; i < directions.size(); ++i) {
            const double c = directions.cosine[i], s = directions.sine[i];
            double low = 0, high = reach;
            for (int halving = 0; halving < 40; ++halving) {
                const double r = 0.5 * (low + high);
                (gauge.size(curves.centre_column + r * c, curves.centre_row + r * s) < level ? low : high) =
                    r;
            }
            const double g = std::sqrt(low / curves.scale) / static_cast<double>(directions.size());
            fourier_basis(c, s, options.order, basis.data());
            coefficients[0] += g;
            for (std::size_t t = 1; t < basis.size(); ++t) coefficients[t] += 0.5 * g * basis[t];
        }
        curves.coefficients.push_back(std::move(coefficients));
    }
    std::vector<double> unknowns = objective.unknowns_of(curves);
    repair(objective, options.curves, unknowns, workspace);
    return unknowns;
}

std::vector<double> even_circles(const CurveObjective& objective, const FourierOptions& options) {
    std::vector<double> unknowns(objective.unknowns(), 0.0);
    for (std::size_t l = 0; l < options.curves; ++l)
        unknowns[l * objective.terms()] =
            std::sqrt(static_cast<double>(l + 1) / static_cast<double>(options.curves + 1));
    return unknowns;
}

std::vector<double> with_noise(const CurveObjective& objective, const std::vector<double>& unknowns,
                               const FourierOptions& options, std::uint64_t seed, std::uint64_t index,
                               Workspace& workspace) {
    Random random(seed, kNoisePurpose, index);
    std::vector<double> noise(options.curves * objective.terms());
    for (double& e : noise) e = random.normal();
    std::vector<double> result = unknowns;
    double sigma = kNoise;
    while (sigma > 1e-6) {
        for (std::size_t i = 0; i < noise.size(); ++i) result[i] = unknowns[i] + sigma * noise[i];
        if (objective.feasible(result, workspace)) return result;
        sigma /= 2;
    }
    return unknowns;
}

void sort_by_rank(std::vector<Candidate>& list) {
    std::erase_if(list, [](const Candidate& candidate) { return !std::isfinite(candidate.rank); });
    std::stable_sort(list.begin(), list.end(),
                     [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
}

/// The `keep` candidates that are best by the binned problem, best first, with their best levels for one kind
/// of variance. The circles about the middle are kept too, if they have levels.
std::vector<Candidate> solve_levels(const BilinearField& field, const CurveObjective& objective,
                                    FourierOptions options, FourierVariance variance, std::size_t keep) {
    options.variance = variance;
    std::vector<Candidate> list = candidates(field, objective, options);
    parallel_for(list.size(), [&](std::size_t i) {
        Candidate& candidate = list[i];
        const Gauge& gauge = candidate.gauge;
        const bool fixed = options.centre == FourierCentre::middle;
        // Large enough to contain the centre and to have no floor term.
        const double hold =
            fixed ? 1.15 * gauge.size(objective.middle_column(), objective.middle_row()) : 0.0;
        const double clear = objective.bands().floor_radius() / std::min(gauge.half_width, gauge.half_height);
        const auto fit =
            fit_levels(field, options, gauge, std::max(hold, clear), objective.bands().floor_area());
        if (!fit) return;
        candidate.rank = fit->objective;
        candidate.levels = fit->levels;
    });
    const Candidate plain = list[0];
    sort_by_rank(list);
    if (list.size() > keep) {
        list.resize(keep);
        if (std::isfinite(plain.rank)) list.push_back(plain);
    }
    return list;
}

/// Ranks candidates by the true objective of their curves.
void judge(const CurveObjective& objective, const FourierOptions& options, std::vector<Candidate>& list) {
    parallel_for(list.size(), [&](std::size_t i) {
        Workspace workspace = objective.workspace();
        list[i].unknowns = project(objective, options, list[i].gauge, list[i].levels, workspace);
        list[i].rank = objective.value(list[i].unknowns, workspace).total;
    });
    sort_by_rank(list);
}
}  // namespace

std::vector<Start> make_starts(const BilinearField& field, const CurveObjective& objective,
                               const FourierOptions& options, std::uint64_t seed) {
    std::vector<Candidate> list = solve_levels(field, objective, options, options.variance, kShortList);
    judge(objective, options, list);
    // The levels that are best for the other kind of variance. With equal weights, circles tend to produce
    // one small region, from which the descent may not recover; the area-weighted levels avoid it.
    const bool mean = options.variance == FourierVariance::mean;
    std::vector<Candidate> others;
    if (options.starts > 2)
        others =
            solve_levels(field, objective, options, mean ? FourierVariance::area : FourierVariance::mean, 1);
    judge(objective, options, others);

    Workspace workspace = objective.workspace();
    const std::vector<double> even = even_circles(objective, options);
    std::vector<Start> starts;
    for (std::uint32_t s = 0; s < options.starts; ++s) {
        const auto noisy = [&](const std::vector<double>& unknowns) {
            return with_noise(objective, unknowns, options, seed, s, workspace);
        };
        if (s == 1 || list.empty()) {
            starts.push_back({"evenly spaced circles with noise", noisy(even)});
            continue;
        }
        const Candidate& best = list[0];
        if (s == 0) {
            starts.push_back({best.shape + " by the one-dimensional solver", best.unknowns});
            continue;
        }
        const auto other_shape = std::find_if(
            list.begin(), list.end(), [&](const Candidate& each) { return each.shape != best.shape; });
        if (s == 2 && !others.empty()) {
            starts.push_back({others[0].shape + (mean ? " by area-weighted levels" : " by unweighted levels"),
                              others[0].unknowns});
        } else if (s == 3 && other_shape != list.end()) {
            starts.push_back({other_shape->shape + " by the one-dimensional solver", other_shape->unknowns});
        } else if (s % 2 == 0) {
            starts.push_back({"evenly spaced circles with noise", noisy(even)});
        } else {
            const Candidate& source = list[(s - 3) / 2 % list.size()];
            starts.push_back(
                {source.shape + " by the one-dimensional solver with noise", noisy(source.unknowns)});
        }
    }
    return starts;
}

}  // namespace kandinsky::partition::fcc
