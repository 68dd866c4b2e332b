#pragma once

#include <limits>

#include "partition/kmeans/nearest.hpp"

// The definition that the vector code is compared with.
namespace kandinsky::partition::kmeans {

inline std::size_t assign_nearest_reference(const Points& points, std::span<const double> centres,
                                            std::size_t begin, std::size_t end, std::uint32_t* labels,
                                            Move* moves) {
    const std::size_t clusters = centres.size() / points.dimension();
    std::size_t moved = 0;
    for (std::size_t i = begin; i < end; ++i) {
        double best = std::numeric_limits<double>::infinity();
        std::uint32_t label = 0;
        for (std::size_t c = 0; c < clusters; ++c) {
            const double distance = points.squared_distance(i, centres.data() + c * points.dimension());
            if (distance < best) best = distance, label = static_cast<std::uint32_t>(c);
        }
        if (labels[i] == label) continue;
        moves[moved++] = {.point = static_cast<std::uint32_t>(i), .from = labels[i], .to = label};
        labels[i] = label;
    }
    return moved;
}

}  // namespace kandinsky::partition::kmeans
