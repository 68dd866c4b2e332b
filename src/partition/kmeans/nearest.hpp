#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "partition/kmeans/points.hpp"

namespace kandinsky::partition::kmeans {

/// The label of a point that belongs to no cluster yet.
inline constexpr std::uint32_t kUnassigned = 0xFFFFFFFFu;

/// A point that changed its cluster.
struct Move {
    std::uint32_t point = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    friend bool operator==(const Move&, const Move&) = default;
};

/// Gives every point of [begin, end) the number of its nearest centre (ties: the lowest number), and writes
/// those that changed to `moves` in ascending order; returns how many. `begin` is a multiple of
/// Points::kPadding, and so is `end` unless it is points.size(). `centres` is [cluster][coordinate], finite.
/// `labels` has points.stride() entries, `moves` room for end - begin. Distances are double and added
/// coordinate by coordinate without fused operations: the same bits on every machine. No allocation; O((end -
/// begin) * clusters * dimension), less where `slack` spares points.
///
/// `slack` has an entry for each point, 0 at first: by how much the second nearest centre is farther away
/// than the nearest, for a few neighbouring points at a time. `moved` is twice the largest distance that a
/// centre has moved since the last call: points whose slack exceeds it keep their label, and are not looked
/// at.
std::size_t assign_nearest(const Points& points, std::span<const double> centres, std::size_t begin,
                           std::size_t end, std::uint32_t* labels, Move* moves, double* slack, double moved);

}  // namespace kandinsky::partition::kmeans
