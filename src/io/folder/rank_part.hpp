#pragma once

#include "core/team/team.hpp"
#include "io/folder/folder_dataset.hpp"

namespace kandinsky {

/// read_images() for ranks that work together: each decodes the files of its share of the cases, whole
/// groups, and the rows of the others are holes, as are those of slices without an annotation where only
/// annotated ones are taken. What crosses the network does not depend on how many files there are. With
/// `skip_bad`, or with groups from elsewhere, every rank reads everything and nothing is dealt yet.
[[nodiscard]] FolderData read_rank_part(const ImageSource* probs, const ImageSource* labels,
                                        const FolderOptions& options, const Team& team, bool groups_given,
                                        Progress& progress);

}  // namespace kandinsky
