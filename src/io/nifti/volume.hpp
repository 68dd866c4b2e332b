#pragma once

#include <span>

#include "io/source/source.hpp"

namespace kandinsky {

/// What a NIfTI file says before its voxels.
struct NiftiHeader {
    static constexpr std::size_t kMostBytes = 540;

    std::array<std::size_t, 3> extent{};  ///< stored x, y, z
    std::size_t planes = 0;               ///< extent of the fourth axis; 0 when there is none
    DType dtype = DType::uint8;
    bool swapped = false;  ///< the file has the other byte order
    std::uint64_t data_offset = 0;
    double slope = 1, intercept = 0;  ///< values are slope * stored + intercept; 1 and 0 when not scaled
    Orientation orientation;
    /// From stored x, y, z to millimetres to the right, front and top: the sform, else the qform, else steps.
    std::array<std::array<double, 4>, 3> affine{};
    std::array<double, 3>
        step{};  ///< millimetres between voxels, stored x, y, z; 0 where nothing sensible is said
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

/// The header of a volume of prediction sets with the geometry of `like`, to where the voxels begin. `note`
/// is kept in an extension of the code for comments.
[[nodiscard]] std::string sets_header(const NiftiHeader& like, std::size_t planes, DType dtype,
                                      const std::string& note = {});

/// Reads the header, and checks that a file of this size can hold the voxels it claims. Throws Error: `file`
/// when the file system fails, `data` when the content cannot be used.
[[nodiscard]] NiftiHeader read_nifti_header(const std::filesystem::path& path);

/// Reads the voxels: [x, y, z], or [x, y, z, class] when the header has planes, x fastest, unscaled, in
/// native byte order. A plain file in native order is mapped, not copied. Nothing is allocated before the
/// file's size was found to allow it; a compressed file is read to its end and its checksum tested.
[[nodiscard]] Array read_nifti(const std::filesystem::path& path);

/// The values that the header's slope and intercept make of stored ones; `stored` itself when there is no
/// scaling. In double precision, kept as `dtype` (float32 or float64). The layout stays the same.
[[nodiscard]] Array scaled_values(const NiftiHeader& header, const Array& stored, DType dtype);

}  // namespace kandinsky
