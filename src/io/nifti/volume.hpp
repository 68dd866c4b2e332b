#pragma once

#include <span>

#include "io/source/source.hpp"

namespace kandinsky {

/// The header of a NIfTI file.
struct NiftiHeader {
    static constexpr std::size_t kMostBytes = 540;

    std::array<std::size_t, 3> extent{};  ///< stored x, y, z
    std::size_t planes = 0;               ///< classes, along the fourth or fifth axis; 0 without such axes
    DType dtype = DType::uint8;
    bool swapped = false;  ///< the file has the other byte order
    std::uint64_t data_offset = 0;
    double slope = 1, intercept = 0;  ///< values are slope * stored + intercept; 1 and 0 when not scaled
    Orientation orientation;
    /// The matrix from stored x, y, z to millimetres right, forward and up: the sform, otherwise the
    /// qform, otherwise the steps.
    std::array<std::array<double, 4>, 3> affine{};
    std::array<double, 3> step{};  ///< millimetres between voxels, stored x, y, z; 0 without a usable value
    std::array<std::byte, kMostBytes> raw{};  ///< the header itself, in native byte order
    std::size_t raw_bytes = 0;                ///< 348 for NIfTI-1, 540 for NIfTI-2

    [[nodiscard]] bool scaled() const { return slope != 1 || intercept != 0; }
    [[nodiscard]] std::uint64_t voxels() const {
        return std::uint64_t{extent[0]} * extent[1] * extent[2] * (planes == 0 ? 1 : planes);
    }
    [[nodiscard]] std::uint64_t data_bytes() const { return voxels() * size_of(dtype); }
};

/// Parses the first bytes of a file (348, or 540 for NIfTI-2; fewer are refused). Sizes are checked so that
/// voxels() and data_bytes() cannot overflow. Takes the axes from the sform, else the qform, else as stored.
/// `name` begins messages. Throws Error of kind `data`.
[[nodiscard]] NiftiHeader parse_nifti_header(std::span<const std::byte> bytes, const std::string& name);

/// The bytes of a volume of prediction sets with the geometry of `like`, up to the voxels. `note` is stored
/// in an extension with the code for comments.
[[nodiscard]] std::string sets_header(const NiftiHeader& like, std::size_t planes, DType dtype,
                                      const std::string& note = {});

/// Reads the header, and checks that a file of this size can have the voxels that it claims. Throws Error of
/// kind `file` if the file system fails, of kind `data` if the content cannot be used.
[[nodiscard]] NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// Reads the voxels: [x, y, z], or [x, y, z, class] when the header has planes, x fastest, unscaled, in
/// native byte order. A plain file in native order is mapped, not copied. Memory is allocated only if a
/// file of this size can have the voxels. A compressed file is read to its end, and its checksum is tested.
[[nodiscard]] Array read_nifti(const std::filesystem::path& path);

/// Applies the header's slope and intercept to stored values; returns `stored` itself if there is no scaling.
/// Computed in double precision, stored as `dtype` (float32 or float64). The layout stays the same.
[[nodiscard]] Array scaled_values(const NiftiHeader& header, const Array& stored, DType dtype);

}  // namespace kandinsky
