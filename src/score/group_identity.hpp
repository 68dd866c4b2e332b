#pragma once

#include "score/census.hpp"

namespace kandinsky {

/// [group] the identity of each group of this rank, independent of its position: its id, or the content of
/// its image if there are no groups. Determines folds, samples and resamples.
[[nodiscard]] inline std::vector<std::uint64_t> group_identities(
    const Dataset& data, const std::vector<std::uint64_t>& image_hash) {
    std::vector<std::uint64_t> who(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image)
        who[data.group_of(image)] =
            data.grouped() ? static_cast<std::uint64_t>(data.group_id(image)) : image_hash[image];
    return who;
}
/// The same without a census: takes one if the images' content is needed.
[[nodiscard]] inline std::vector<std::uint64_t> group_identities(const Dataset& data, Progress& progress) {
    if (data.grouped()) return group_identities(data, std::vector<std::uint64_t>{});
    return group_identities(data, take_census(data, Condition::none, progress).image_hash);
}

}  // namespace kandinsky
