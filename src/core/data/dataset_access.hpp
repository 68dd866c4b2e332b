#pragma once

#include <atomic>
#include <kandinsky/dataset.hpp>

#include "core/data/image_store.hpp"
#include "core/team/team.hpp"

namespace kandinsky {

/// The state that all copies and subsets of a data set share.
struct Dataset::Shared {
    std::shared_ptr<const Team> team;                            ///< null: a single process
    std::shared_ptr<std::atomic<std::uint64_t>[]> content_keys;  ///< [row]; 0: not computed yet
    std::shared_ptr<ImageStore> store;                           ///< [row]
};

/// Members of a data set that only the library's own code uses, through the functions below.
struct [[gnu::visibility("hidden")]] DatasetAccess {
    [[nodiscard]] static const Dataset::Shared& shared(const Dataset& data) {
        return *data.shared_;
    }
    [[nodiscard]] static const Array& probs(const Dataset& data) {
        return data.probs_;
    }
    [[nodiscard]] static std::size_t row(const Dataset& data, std::size_t image) {
        return data.rows_[image];
    }
    [[nodiscard]] static Dataset of_team(const Dataset& data, std::shared_ptr<const Team> team);
};

/// The part of the images for this rank of a team: whole groups, in the order of their ids, about equally
/// many images for each rank, possibly none. Sums over the parts of all ranks equal those over all images.
/// All ranks must hold the same data set; nothing is read.
[[nodiscard]] Dataset dealt(const Dataset& data, std::shared_ptr<const Team> team);
/// The part of this rank if the images were divided before they were read: all images of `data`.
[[nodiscard]] inline Dataset as_rank_part(const Dataset& data, std::shared_ptr<const Team> team) {
    return DatasetAccess::of_team(data, std::move(team));
}
/// The team for which the data set was divided, or a team of one process if it was not divided.
[[nodiscard]] const Team& team_of(const Dataset& data);

/// image_key() of one image; computed on first use and shared by all copies and subsets.
[[nodiscard]] std::uint64_t content_key(const Dataset& data, std::size_t image);
/// Cached numbers of whole images, shared by all copies and subsets.
[[nodiscard]] inline ImageStore& store_of(const Dataset& data) {
    return *DatasetAccess::shared(data).store;
}

/// The first probability of a class in an image, if they are stored as contiguous float16; null if they are
/// stored in another way or are logits.
[[nodiscard]] const std::byte* halves_of(const Dataset& data, std::size_t image, std::size_t cls);
/// The probabilities as stored, for code that uses their memory layout.
[[nodiscard]] inline const Array& stored_probs(const Dataset& data) {
    return DatasetAccess::probs(data);
}
/// The number of the image's row in the stored arrays.
[[nodiscard]] inline std::size_t row_of(const Dataset& data, std::size_t image) {
    return DatasetAccess::row(data, image);
}

}  // namespace kandinsky
