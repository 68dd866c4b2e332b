#include "calibrate/adapted_tables.hpp"
#include "curve/curve_storage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "calibrate/adapted_values.hpp"
#include "calibrate/confidence.hpp"
#include "core/base/fail.hpp"
#include "curve/lattice.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostLimits = 32000;  // kandinsky.torch indexes limits by int16

AdaptedTables::Axis axis_of(std::uint32_t length, std::uint32_t side, std::uint32_t cells) {
    AdaptedTables::Axis out;
    for (std::uint32_t at = 0; at < length; ++at) {
        const BetweenCells here = between_cells(at, side, cells);
        const bool fresh = at > 0 && (out.low.back() != here.low || out.high.back() != here.high);
        out.place.push_back(at == 0 ? 0 : out.place.back() + (fresh ? 1 : 0));
        out.low.push_back(here.low);
        out.high.push_back(here.high);
        out.low_weight.push_back(here.low_weight);
        out.high_weight.push_back(here.high_weight);
    }
    return out;
}

void add_shifts(const Adaptation& adaptation, AdaptedTables& out) {
    const std::vector<Adaptation::Shift>& fits = adaptation.shifts();
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
        for (const Adaptation::Shift& fit : fits) {
            out.slope.push_back(fit.slope[k]);
            out.low.push_back(fit.low[k]);
            out.high.push_back(fit.high[k]);
        }
    for (const Adaptation::Shift& fit : fits) out.constant.push_back(fit.constant);
}

/// The range of the exponents of 2 of the distances whose logarithms scale_key() takes, for keys from `low`
/// to `high`. The distance of a score s is |s| if |s| < 1/2, and otherwise the difference between |s| and 1.
std::pair<int, int> exponents(std::int64_t low, std::int64_t high) {
    constexpr std::int64_t kBinade = std::int64_t{1} << 23, kHalf = log_bits(0.5f), kOne = 2 * kHalf;
    std::int64_t least = kOne, most = 0;
    for (const std::int64_t key : {low, high, -kOne, -kHalf, std::int64_t{0}, kHalf, kOne}) {
        if (key < low || key > high) continue;
        const std::int64_t own = std::abs(key) < kHalf ? std::abs(key) : std::abs(std::abs(key) - kOne);
        least = std::min(least, own);
        most = std::max(most, own);
    }
    return {static_cast<int>(least / kBinade) - 24, static_cast<int>(most / kBinade) - 24};
}

std::size_t parts_of(const AdaptedTables& tables) {
    return std::clamp<std::size_t>(kMostLimits / tables.columns(), 1, AdaptedTables::kParts);
}

/// Adds the scores that serve as limits; places refer to them by number.
void add_scores(float largest, AdaptedTables& out) {
    const auto parts = static_cast<std::int64_t>(parts_of(out));
    for (std::size_t i = 0; i + 1 < out.columns(); ++i)
        for (std::int64_t part = 0; part < parts; ++part) {
            const std::int64_t wide = out.edges[i + 1] - out.edges[i];
            out.limits.push_back(
                largest_score_at(static_cast<std::int32_t>(out.edges[i] + wide * part / parts)));
        }
    constexpr float kInf = std::numeric_limits<float>::infinity();
    out.limits.insert(out.limits.end(), {out.ends.back(), largest, kInf, -kInf});
}

/// Adds the columns of the distributions that levels from `least` to `most` can reach.
void add_columns(const SmoothCurves& curves, std::uint32_t least, std::uint32_t most, AdaptedTables& out) {
    const SmoothStorage& from = storage_of(curves);
    const std::size_t bins = from.edges.size() - 1, cells = curves.cells().pixels();
    std::size_t first = bins, end = 1;  // columns from first to end are kept
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const auto own = from.cumulative.begin() + static_cast<std::ptrdiff_t>(cell * bins);
        const auto passed = [&](std::uint32_t level) {
            return static_cast<std::size_t>(
                std::upper_bound(own, own + static_cast<std::ptrdiff_t>(bins), level) - own);
        };
        first = std::min(first, passed(least));
        end = std::max(end, passed(most) + 1);
    }
    // Column 0 ends where the distributions are 0, and column bins + 1 where they are 1.
    for (std::size_t b = first; b <= end; ++b) {
        out.edges.push_back(b == 0 ? from.origin : from.edges[b - 1]);
        out.ends.push_back(largest_score_at(static_cast<std::int32_t>(out.edges.back())));
    }
    add_scores(from.largest, out);
    std::tie(out.low_exponent, out.high_exponent) = exponents(out.edges.front(), out.edges.back());
    out.share.reserve(cells * out.columns());
    for (std::size_t cell = 0; cell < cells; ++cell)
        for (std::size_t b = first; b <= end; ++b)
            out.share.push_back(b == 0          ? 0
                                : b == bins + 1 ? SmoothCurves::kOne
                                                : from.cumulative[cell * bins + b - 1]);
}

/// The numbers of two limits of a cell: the last limit at which the cell's distribution is at most the level,
/// and the first limit beyond which it exceeds the level. A bound that holds in all cells around a pixel also
/// holds for the distribution that is interpolated between them.
struct Reached {
    std::uint16_t sure, last;
};

Reached reached(const AdaptedTables& tables, std::size_t cell, std::int64_t level) {
    const std::size_t columns = tables.columns();
    const auto own = tables.share.begin() + static_cast<std::ptrdiff_t>(cell * columns);
    const auto parts = static_cast<std::int64_t>(parts_of(tables));
    const std::int64_t column =
        std::upper_bound(own, own + static_cast<std::ptrdiff_t>(columns), level) - own - 1;
    const auto at = [&](std::int64_t part) { return static_cast<std::uint16_t>(column * parts + part); };
    if (column + 1 == static_cast<std::int64_t>(columns)) return {at(0), at(1)};  // up to the largest score
    const std::int64_t below = own[column], above = own[column + 1];
    const auto i = static_cast<std::size_t>(column);
    const std::int64_t wide = tables.edges[i + 1] - tables.edges[i];
    const std::int64_t passed = (level - below) * wide / (above - below);  // the last key in the set
    // Part k ends at wide * k / parts, rounded down.
    return {at(((passed + 1) * parts - 1) / wide), at((passed * parts + wide - 1) / wide)};
}

/// For each place the least or the largest number among its cells.
template <class Better>
std::vector<std::uint16_t> at_places(const AdaptedTables& tables, const std::vector<std::uint16_t>& of_cell,
                                     Better better) {
    if (!tables.region.empty()) return of_cell;
    const AdaptedTables::Axis &down = tables.down, &across = tables.across;
    std::vector<std::uint16_t> out;
    for (std::size_t y = 0; y < down.place.size(); ++y) {
        if (y > 0 && down.place[y] == down.place[y - 1]) continue;
        for (std::size_t x = 0; x < across.place.size(); ++x) {
            if (x > 0 && across.place[x] == across.place[x - 1]) continue;
            const auto at = [&](std::int64_t row, std::int64_t column) {
                return of_cell[static_cast<std::size_t>(row) * tables.width +
                               static_cast<std::size_t>(column)];
            };
            out.push_back(better(better(at(down.low[y], across.low[x]), at(down.low[y], across.high[x])),
                                 better(at(down.high[y], across.low[x]), at(down.high[y], across.high[x]))));
        }
    }
    return out;
}

/// The limits of an alpha at which all images have the same sets.
void add_limits(bool everything, AdaptedTables& out) {
    const auto limit = static_cast<std::uint16_t>(out.limits.size() - (everything ? 2 : 1));
    out.sure.emplace_back(out.rows() * out.places_down() * out.places_across(), limit);
    out.last.push_back(out.sure.back());
}

/// The limits of one alpha.
void add_limits(const std::vector<std::uint32_t>& levels, AdaptedTables& out) {
    const auto largest = static_cast<std::uint16_t>(out.limits.size() - 3);
    std::vector<std::uint16_t>&sure = out.sure.emplace_back(), &last = out.last.emplace_back();
    for (const std::uint32_t level : levels) {
        // At level 1 all scores that are possible are in the set.
        std::vector<std::uint16_t> from(out.cells(), largest), to = from;
        for (std::size_t cell = 0; cell < out.cells() && level != SmoothCurves::kOne; ++cell) {
            const Reached own = reached(out, cell, level);
            from[cell] = own.sure;
            to[cell] = own.last;
        }
        const auto least = at_places(out, from, [](auto a, auto b) { return std::min(a, b); });
        const auto most = at_places(out, to, [](auto a, auto b) { return std::max(a, b); });
        sure.insert(sure.end(), least.begin(), least.end());
        last.insert(last.end(), most.begin(), most.end());
    }
}
}  // namespace

AdaptedTables adapted_tables(const Calibrator& calibrator, std::size_t stratum,
                             std::span<const double> alphas) {
    const Adaptation& adaptation = *calibrator.adaptation_of(stratum);
    const SmoothCurves& curves = *calibrator.smooth_of(stratum);
    if (adaptation.step() != Adaptation::kStep)
        fail(ErrorKind::usage,
             "the calibrator is from an earlier version, which rounded the shifts of levels in another way; "
             "calibrate again to export it");
    AdaptedTables out;
    add_shifts(adaptation, out);
    const auto [least, most] = adaptation.range();
    out.least = least / Adaptation::kStep;
    std::uint32_t lowest = SmoothCurves::kOne, highest = 0;
    std::vector<float> thresholds;
    for (const double alpha : alphas) {
        thresholds.push_back(value_threshold(calibrator, stratum, alpha));
        std::vector<std::uint32_t>& own = out.levels.emplace_back();
        if (std::isinf(thresholds.back())) {
            own.resize(static_cast<std::size_t>((most - least) / Adaptation::kStep) + 1);
            continue;
        }
        const std::size_t rung = curves.rung_of(curve_alpha(calibrator, stratum, alpha));
        for (std::int32_t shift = least; shift <= most; shift += Adaptation::kStep)
            own.push_back(adaptation.level(rung, shift));
        lowest = std::min(lowest, own.front());
        highest = std::max(highest, own.back());
    }
    add_columns(curves, std::min(lowest, highest), highest, out);
    const SmoothStorage& storage = storage_of(curves);
    const Grid cells = curves.cells();
    out.width = cells.width;
    out.region.assign(storage.region.begin(), storage.region.end());
    if (out.region.empty()) {
        out.unit = 4 * std::int64_t{storage.side} * storage.side;
        out.down = axis_of(calibrator.grid.height, storage.side, cells.height);
        out.across = axis_of(calibrator.grid.width, storage.side, cells.width);
    }
    for (std::size_t a = 0; a < alphas.size(); ++a) {
        if (std::isinf(thresholds[a]))
            add_limits(thresholds[a] > 0, out);
        else
            add_limits(out.levels[a], out);
    }
    return out;
}

}  // namespace kandinsky
