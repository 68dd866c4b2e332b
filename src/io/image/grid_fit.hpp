#pragma once

#include <kandinsky/grid.hpp>
#include <string>
#include <string_view>

namespace kandinsky {

/// How images of different sizes are mapped to one grid.
struct GridFit {
    enum class Kind {
        none,    ///< all images already have the grid's size
        centre,  ///< cropped or padded around their centre
        resize,  ///< stretched; probabilities bilinear, labels nearest; pixel centres at 0.5
    };
    Kind kind = Kind::none;
    Grid grid;

    friend bool operator==(const GridFit&, const GridFit&) = default;
};

/// "384x256" (width x height) as a grid. Throws Error of kind `usage` that names the flag for other text and
/// for sides that are not 1 to 2^20.
[[nodiscard]] Grid parse_grid(const std::string& text, const std::string& flag);

/// The place of a centred image on the grid, along one axis: floor((grid - size) / 2) pixels of padding come
/// first, or floor((size - grid) / 2) pixels are cut off first.
struct CentredSpan {
    std::size_t source = 0, target = 0;  ///< first common pixel, in the image and on the grid
    std::size_t count = 0;               ///< number of common pixels
};
[[nodiscard]] CentredSpan centred(std::size_t size, std::size_t grid);

/// Maps one plane of probabilities from [own] to [fit.grid]; padding becomes `pad`. When it resizes, NaN
/// spreads to the pixels around it. No allocation.
void fit_values(const float* plane, Grid own, const GridFit& fit, float pad, float* out);
/// The same for one plane of labels, with the nearest pixel.
void fit_labels(const std::int32_t* plane, Grid own, const GridFit& fit, std::int32_t pad, std::int32_t* out);
/// Maps 0/1 sets back from [fit.grid] to [own], with the nearest pixel. Pixels of the image outside the grid
/// become 1, because nothing is known about them. Returns their number.
std::size_t unfit_sets(const std::uint8_t* plane, const GridFit& fit, Grid own, std::uint8_t* out);
/// The same for p-values.
std::size_t unfit_values(const float* plane, const GridFit& fit, Grid own, float* out);

}  // namespace kandinsky
