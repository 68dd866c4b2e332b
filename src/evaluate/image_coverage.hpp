#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <span>

#include "core/team/team.hpp"

namespace kandinsky {

/// How coverage varies from image to image, over the images of all ranks. The spans have one entry for each
/// image of this rank: the number of its samples, the number of its samples whose set contains the class, and
/// its features. Images without samples do not count. Collective; ranks exchange sums of integers, so the
/// result does not depend on the order of the images or on the rank that has them.
[[nodiscard]] ImageCoverage image_coverage(Communicator& comm, std::span<const std::uint64_t> tested,
                                           std::span<const std::uint64_t> covered,
                                           std::span<const ImageFeatures> features, double alpha);

}  // namespace kandinsky
