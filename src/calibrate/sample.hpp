#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <vector>

#include "partition/soft_method.hpp"

namespace kandinsky {

/// The purpose of a sample. Draws for different purposes are independent.
enum class SamplePurpose : std::uint64_t {
    draws = 0x73616D706C65,
    split = 0x73706C6974,
    reference = 0x7265666572,
};

/// Image numbers of this rank, ascending, of a random sample of `count` groups (of images if there are no
/// groups). `who`: [group] the identities, as from group_identities(). The sample depends on these, the seed
/// and the number of the draw, never on positions. Collective. Throws a usage error if `count` is 0 or more
/// than there are.
[[nodiscard]] std::vector<std::uint32_t> draw_sample(const Dataset& data,
                                                     const std::vector<std::uint64_t>& who, std::size_t count,
                                                     SamplePurpose purpose, std::uint64_t seed,
                                                     std::uint64_t draw);

/// Draws a share `options.split` of the groups to learn from; the other groups set the thresholds. The split
/// does not depend on the method. One side may be empty; nobody_learns and nobody_levels are not set.
/// `groups`: their number on all ranks. Collective.
[[nodiscard]] DataSplit split_groups(const Dataset& data, const CalibrateOptions& options,
                                     std::uint64_t groups, Progress& progress);

}  // namespace kandinsky
