#include "partition/field/blend.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
            std::size_t bins) {
    Plane out(grid, bins);
    parallel_for(grid.height, [&](std::size_t y) {
        std::vector<float> each(weights.size() * bins), share;
        std::vector<const float*> rows;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            if (!(weights[k] > 0)) continue;
            rows.push_back(each.data() + k * bins);
            share.push_back(static_cast<float>(weights[k]));
        }
        for (std::size_t p = y * grid.width; p < (y + 1) * grid.width; ++p) {
            fields.at(p, bins, each.data());
            float* const own = out.at(p);
            weighted_sum(rows.data(), share.data(), rows.size(), bins, own);
            for (std::size_t b = 0; b < bins; ++b) own[b] = std::min(1.0f, own[b]);
            own[bins - 1] = 1;
        }
    });
    return out;
}

double level_at(const ScoreGrid& grid, const float* distribution, float score) {
    const std::size_t b = grid.bin_of(score);
    const double below = b > 0 ? static_cast<double>(distribution[b - 1]) : 0.0, above = distribution[b];
    const double from = b > 0 ? grid.edges()[b - 1] : grid.origin(), to = grid.edges()[b];
    if (!(to > from)) return above;
    return below + (above - below) * std::clamp((scale_key(score) - from) / (to - from), 0.0, 1.0);
}

float score_at(const ScoreGrid& grid, const float* distribution, double level) {
    if (level >= 1) return grid.largest();
    const std::vector<std::int32_t>& edges = grid.edges();
    const auto b = static_cast<std::size_t>(
        std::lower_bound(distribution, distribution + edges.size() - 1, level,
                         [](float value, double wanted) { return static_cast<double>(value) < wanted; }) -
        distribution);
    const double below = b > 0 ? static_cast<double>(distribution[b - 1]) : 0.0, above = distribution[b];
    const double from = b > 0 ? edges[b - 1] : grid.origin(), to = edges[b];
    const double share = above > below ? std::clamp((level - below) / (above - below), 0.0, 1.0) : 1.0;
    return score_on_scale(static_cast<std::int32_t>(from + (to - from) * share));
}

float score_up_to(const ScoreGrid& grid, const float* distribution, double level) {
    if (level >= 1) return grid.largest();
    const std::vector<std::int32_t>& edges = grid.edges();
    const auto b = static_cast<std::size_t>(
        std::upper_bound(distribution, distribution + edges.size() - 1, level,
                         [](double wanted, float value) { return wanted < static_cast<double>(value); }) -
        distribution);
    const double below = b > 0 ? static_cast<double>(distribution[b - 1]) : 0.0, above = distribution[b];
    const double from = b > 0 ? edges[b - 1] : grid.origin(), to = edges[b];
    // The margin is far above rounding here and in level_at, and far below a float's spacing.
    const double key = from + (to - from) * (level - below) / (above - below) + 1e-3;
    return score_on_scale(static_cast<std::int32_t>(std::ceil(std::min(to, key))));
}

}  // namespace kandinsky::partition::field
