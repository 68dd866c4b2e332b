#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <vector>

namespace kandinsky::partition {

enum class FoldOrder {
    content,       ///< by the group's id, or by the image's content without groups; independent of positions
    content_runs,  ///< the same order cut into runs: without one group, few others change their fold
    contiguous,    ///< runs of neighbouring positions in the file, for frames of a video
};

/// The fold of every image, below `count`. All images of a group are in one fold. The sizes of
/// folds differ by at most one group if folds are contiguous, or if there are at most kRankedGroups groups.
/// If there are more, the hash of a group alone decides its fold.
struct Folds {
    std::vector<std::uint8_t> of_image;
    std::size_t count = 0;  ///< min(wanted, groups)
    /// [image] the place of its group in the order of all groups. Empty if folds are contiguous or there are
    /// more than kRankedGroups groups.
    std::vector<std::uint32_t> place{};
};

/// Divides the images of all ranks. `image_hash`: of this rank's images; `wanted`: at most 256. Collective.
[[nodiscard]] Folds make_folds(const Dataset& data, const std::vector<std::uint64_t>& image_hash,
                               std::size_t wanted, FoldOrder order, std::uint64_t seed);

/// The result of make_folds() with content_runs for all groups except one; `of_image` is by place here.
/// `left_out`: the place of that group, or `groups` (at most kRankedGroups) for none.
[[nodiscard]] Folds folds_without(std::size_t wanted, std::size_t groups, std::uint32_t left_out);

/// Throws a usage error if there are too many groups to learn again without each.
void check_leave_one_out(std::uint64_t groups);

}  // namespace kandinsky::partition
