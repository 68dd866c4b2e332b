#include "partition/field/blend.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
            std::size_t bins, const Locality& locality) {
    std::vector<std::size_t> used;
    std::vector<float> fraction;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        if (!(weights[k] > 0)) continue;
        used.push_back(k);
        fraction.push_back(static_cast<float>(weights[k]));
    }
    Plane out(grid, bins);
    parallel_for(grid.height, [&](std::size_t y) {
        std::vector<float> each(used.size() * bins);
        std::vector<const float*> rows;
        for (std::size_t i = 0; i < used.size(); ++i) rows.push_back(each.data() + i * bins);
        for (std::size_t cell = y * grid.width; cell < (y + 1) * grid.width; ++cell) {
            for (std::size_t i = 0; i < used.size(); ++i) fields.at(cell, used[i], each.data() + i * bins);
            float* const own = out.at(cell);
            weighted_sum(rows.data(), fraction.data(), rows.size(), bins, own);
            const float local =
                static_cast<float>(locality.place) * (locality.support ? fields.support(cell) : 1.0f);
            for (std::size_t b = 0; b < bins; ++b)
                own[b] = std::min(1.0f, local * own[b] + (1 - local) * fields.image()[b]);
            own[bins - 1] = 1;
        }
    });
    return out;
}

std::vector<std::uint16_t> stored(const Plane& blended) {
    const std::size_t bins = blended.bins - 1, cells = blended.grid.pixels();
    std::vector<std::uint16_t> out(cells * bins);
    for (std::size_t cell = 0; cell < cells; ++cell)
        for (std::size_t b = 0; b < bins; ++b)
            out[cell * bins + b] = static_cast<std::uint16_t>(
                std::min(65535.0f, blended.at(cell)[b] * static_cast<float>(SmoothCurves::kOne)));
    return out;
}

}  // namespace kandinsky::partition::field
