#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <span>

#include "core/team/team.hpp"

namespace kandinsky {

/// How coverage varies from image to image, over the images of all ranks. tested, covered and features:
/// [image] of this rank, its samples, those that their sets cover, and how it looks. Images without samples
/// do not count. A collective call; ranks exchange sums of whole numbers, so neither the order of the images
/// nor the rank that has them shows.
[[nodiscard]] ImageCoverage image_coverage(Communicator& comm, std::span<const std::uint64_t> tested,
                                           std::span<const std::uint64_t> covered,
                                           std::span<const ImageFeatures> features, double alpha);

}  // namespace kandinsky
