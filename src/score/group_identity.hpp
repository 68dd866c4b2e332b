#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

namespace kandinsky {

/// Who each group of this rank is, whatever its position: its id, or the content of its one image where no
/// groups are given. Folds, samples and resamples follow it. [group]
[[nodiscard]] std::vector<std::uint64_t> group_identities(const Dataset& data,
                                                          const std::vector<std::uint64_t>& image_hash);
/// The same without a census at hand: takes one where the images' content is needed.
[[nodiscard]] std::vector<std::uint64_t> group_identities(const Dataset& data, Progress& progress);

}  // namespace kandinsky
