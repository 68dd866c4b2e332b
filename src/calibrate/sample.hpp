#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <vector>

#include "partition/soft_method.hpp"

namespace kandinsky {

/// What a sample is drawn for: different purposes draw independently.
enum class SamplePurpose : std::uint64_t {
    draws = 0x73616D706C65,
    split = 0x73706C6974,
    reference = 0x7265666572,
};

/// Image numbers of this rank, ascending, of a random sample of `count` groups (images where no groups are
/// given). Which ones follows from who they are (group_identities), the seed and the number of the draw,
/// never from an image's position.
[[nodiscard]] std::vector<std::uint32_t> draw_sample(const Dataset& data,
                                                     const std::vector<std::uint64_t>& who, std::size_t count,
                                                     SamplePurpose purpose, std::uint64_t seed,
                                                     std::uint64_t draw);

/// The images that learn, a share `options.split` of so many groups, and those that set the thresholds;
/// groups stay whole. One split for all methods. One side may be empty.
[[nodiscard]] DataSplit split_groups(const Dataset& data, const CalibrateOptions& options,
                                     std::uint64_t groups, Progress& progress);

}  // namespace kandinsky
