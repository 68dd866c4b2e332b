#pragma once

#include "core/team.hpp"
#include "io/folder_dataset.hpp"

namespace kandinsky {

/// read_images() for ranks that work together: each decodes the files of the images that Dataset::dealt()
/// will give it, and the rows of the others are holes. Labels are looked through by all in turn, and how many
/// images each case has crosses the network. With `skip_bad` every rank reads everything, since whose images
/// are whose is known only when all files have been read.
[[nodiscard]] FolderData read_share(const ImageSource* probs, const ImageSource* labels,
                                    const FolderOptions& options, const Team& team, bool groups_given,
                                    Progress& progress);

}  // namespace kandinsky
