#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace kandinsky {

/// The label that marks unlabelled voxels according to the dataset.json in `folder` or above it: nnU-Net v2
/// names it "ignore" and gives it the highest number. Nothing when there is no such file or entry. Throws
/// Error of kind `data` when the file is there but cannot be understood.
[[nodiscard]] std::optional<std::int64_t> ignore_label(const std::filesystem::path& folder);

}  // namespace kandinsky
