#include "partition/fcc/starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "partition/fcc/radial.hpp"

namespace kandinsky::partition::fcc {

namespace {
constexpr std::uint64_t kNoisePurpose = 0x666363;  // "fcc"
constexpr double kNoise = 0.03;         // standard deviation of the coefficients' noise; radii are order 1
constexpr std::size_t kShortList = 12;  // candidates that are judged by the true objective

struct Candidate {
    std::string shape;
    Gauge gauge;
    double rank = std::numeric_limits<double>::infinity();
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

/// Makes curves feasible: first rounder, then smaller.
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
    for (double sigma = kNoise; sigma > 1e-6; sigma *= 0.5) {
        for (std::size_t i = 0; i < noise.size(); ++i) result[i] = unknowns[i] + sigma * noise[i];
        if (objective.feasible(result, workspace)) return result;
    }
    return unknowns;
}
}  // namespace

std::vector<Start> make_starts(const BilinearField& field, const CurveObjective& objective,
                               const FourierOptions& options, std::uint64_t seed) {
    std::vector<Candidate> list = candidates(field, objective, options);
    std::vector<std::vector<double>> levels(list.size());
    parallel_for(list.size(), [&](std::size_t i) {
        Candidate& candidate = list[i];
        const bool fixed = options.centre == FourierCentre::middle;
        const double smallest =
            fixed ? 1.15 * candidate.gauge.size(objective.middle_column(), objective.middle_row()) : 0.0;
        const auto fit = fit_levels(field, options, candidate.gauge, smallest);
        if (!fit) return;
        candidate.rank = fit->objective;
        levels[i] = fit->levels;
    });
    std::vector<std::size_t> order(list.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto by_rank = [&](std::size_t a, std::size_t b) { return list[a].rank < list[b].rank; };
    std::stable_sort(order.begin(), order.end(), by_rank);
    std::erase_if(order, [&](std::size_t i) { return !std::isfinite(list[i].rank); });
    // Keep the best few and always the plain circles about the middle.
    const bool plain = std::isfinite(list[0].rank);
    if (order.size() > kShortList) order.resize(kShortList);
    if (plain && std::find(order.begin(), order.end(), std::size_t{0}) == order.end()) order.push_back(0);
    parallel_for(order.size(), [&](std::size_t i) {
        Candidate& candidate = list[order[i]];
        Workspace workspace = objective.workspace();
        candidate.unknowns = project(objective, options, candidate.gauge, levels[order[i]], workspace);
        candidate.rank = objective.value(candidate.unknowns, workspace).total;
    });
    std::stable_sort(order.begin(), order.end(), by_rank);
    std::erase_if(order, [&](std::size_t i) { return !std::isfinite(list[i].rank); });

    Workspace workspace = objective.workspace();
    const std::vector<double> even = even_circles(objective, options);
    std::vector<Start> starts;
    for (std::uint32_t s = 0; s < options.starts; ++s) {
        if (s == 1 || order.empty()) {
            starts.push_back({"evenly spaced circles with noise",
                              with_noise(objective, even, options, seed, s, workspace)});
            continue;
        }
        const Candidate& best = list[order[0]];
        if (s == 0) {
            starts.push_back({best.shape + " by the one-dimensional solver", best.unknowns});
            continue;
        }
        const auto other = std::find_if(order.begin(), order.end(),
                                        [&](std::size_t i) { return list[i].shape != best.shape; });
        if (s == 2 && other != order.end()) {
            starts.push_back({list[*other].shape + " by the one-dimensional solver", list[*other].unknowns});
            continue;
        }
        const Candidate& source = list[order[(s - 2) / 2 % order.size()]];
        starts.push_back({source.shape + " by the one-dimensional solver with noise",
                          with_noise(objective, source.unknowns, options, seed, s, workspace)});
    }
    return starts;
}

}  // namespace kandinsky::partition::fcc
