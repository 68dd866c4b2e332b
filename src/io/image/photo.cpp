#include "io/image/photo.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/png/png.hpp"

namespace kandinsky {

Array read_photo(const std::filesystem::path& path) {
    const MappedFile file = map_file(path);
    const std::string name = printable(path.string());
    if (looks_like_png(file.bytes)) return decode_png_photo(file.bytes, name);
    const bool jpeg =
        file.bytes.size() >= 2 && file.bytes[0] == std::byte{0xFF} && file.bytes[1] == std::byte{0xD8};
    if (jpeg) return decode_jpeg(file.bytes, name);
    fail(ErrorKind::data, "cannot read {}: it is neither a JPEG nor a PNG file", name);
}

Letterbox letterbox(Grid own, Grid grid) {
    if (own.pixels() == 0 || grid.pixels() == 0)
        fail(ErrorKind::internal, "an image of {} x {} pixels onto {} x {}", own.height, own.width,
             grid.height, grid.width);
    const double ratio = static_cast<double>(own.width) / static_cast<double>(own.height);
    Letterbox box{.own = own, .grid = grid, .scaled = grid};
    if (own.width > own.height)
        box.scaled.height = static_cast<std::uint32_t>(static_cast<double>(grid.width) / ratio);
    else
        box.scaled.width = static_cast<std::uint32_t>(static_cast<double>(grid.height) * ratio);
    // At least one pixel, even for very long images.
    box.scaled.height = std::max<std::uint32_t>(box.scaled.height, 1);
    box.scaled.width = std::max<std::uint32_t>(box.scaled.width, 1);
    const auto margin = [](std::uint32_t outer, std::uint32_t inner) {
        return static_cast<std::ptrdiff_t>(
            std::floor((static_cast<double>(outer) - static_cast<double>(inner)) / 2));
    };
    box.top = margin(grid.height, box.scaled.height);
    box.left = margin(grid.width, box.scaled.width);
    return box;
}

namespace {
/// [pixel of the grid along one axis] the pixel of the scaled image, or -1 outside.
std::vector<std::ptrdiff_t> scaled_places(std::size_t grid, std::size_t scaled, std::ptrdiff_t margin) {
    std::vector<std::ptrdiff_t> places(grid, -1);
    for (std::size_t i = 0; i < grid; ++i) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) - margin;
        if (at >= 0 && at < static_cast<std::ptrdiff_t>(scaled)) places[i] = at;
    }
    return places;
}

/// The same in pixels of the original image, in single precision as in the released code.
std::vector<std::ptrdiff_t> nearest_places(std::size_t grid, std::size_t own, std::size_t scaled,
                                           std::ptrdiff_t margin) {
    std::vector<std::ptrdiff_t> places = scaled_places(grid, scaled, margin);
    const float step = static_cast<float>(own) / static_cast<float>(scaled);
    for (std::ptrdiff_t& place : places)
        if (place >= 0)
            place = std::min(static_cast<std::ptrdiff_t>(std::floor(static_cast<float>(place) * step)),
                             static_cast<std::ptrdiff_t>(own) - 1);
    return places;
}

/// The source pixels of one target pixel, and their weights in units of 2^-kPrecision.
struct Taps {
    std::size_t first = 0;
    std::vector<std::int32_t> weights;
};
constexpr int kPrecision = 22;

std::vector<Taps> triangle_taps(std::size_t from, std::size_t to) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double reach = std::max(scale, 1.0);
    std::vector<Taps> taps(to);
    std::vector<double> weights;
    for (std::size_t i = 0; i < to; ++i) {
        const double middle = (static_cast<double>(i) + 0.5) * scale;
        const auto first = static_cast<std::size_t>(std::max(middle - reach + 0.5, 0.0));
        const auto last = static_cast<std::size_t>(std::min(middle + reach + 0.5, static_cast<double>(from)));
        weights.clear();
        double total = 0;
        for (std::size_t at = first; at < last; ++at) {
            const double distance = std::abs((static_cast<double>(at) - middle + 0.5) * (1.0 / reach));
            weights.push_back(std::max(0.0, 1.0 - distance));
            total += weights.back();
        }
        taps[i].first = first;
        for (const double weight : weights)
            taps[i].weights.push_back(static_cast<std::int32_t>(0.5 + weight / total * (1 << kPrecision)));
    }
    return taps;
}

/// The value of one target pixel: the weighted sum of its source pixels, which are `step` values apart in
/// `line`.
std::uint8_t weighed(const Taps& taps, const std::uint8_t* line, std::size_t step) {
    std::int32_t sum = 1 << (kPrecision - 1);
    for (std::size_t k = 0; k < taps.weights.size(); ++k)
        sum += taps.weights[k] * std::int32_t{line[(taps.first + k) * step]};
    return static_cast<std::uint8_t>(std::clamp(sum >> kPrecision, 0, 255));
}

void check_photo(const Array& photo) {
    if (photo.dtype() != DType::uint8 || photo.shape().size() != 3 || photo.shape()[2] != 3 ||
        photo.view().size() == 0 || !photo.view().is_c_contiguous())
        fail(ErrorKind::internal, "a photo of shape {}", photo.view().shape_text());
}
}  // namespace

void letterbox_labels(const std::uint8_t* plane, const Letterbox& box, std::uint8_t pad, std::uint8_t* out) {
    const auto rows = nearest_places(box.grid.height, box.own.height, box.scaled.height, box.top);
    const auto columns = nearest_places(box.grid.width, box.own.width, box.scaled.width, box.left);
    for (const std::ptrdiff_t row : rows)
        for (const std::ptrdiff_t column : columns)
            *out++ = row < 0 || column < 0 ? pad
                                           : plane[row * static_cast<std::ptrdiff_t>(box.own.width) + column];
}

Array resize_photo(const Array& photo, Grid size) {
    check_photo(photo);
    const std::size_t height = photo.shape()[0], width = photo.shape()[1];
    const std::vector<Taps> across = triangle_taps(width, size.width),
                            down = triangle_taps(height, size.height);
    std::vector<std::uint8_t> narrow(height * size.width * 3);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < size.width; ++x)
            for (std::size_t c = 0; c < 3; ++c)
                narrow[(y * size.width + x) * 3 + c] =
                    weighed(across[x], photo.data_as<std::uint8_t>() + y * width * 3 + c, 3);
    Array out = Array::zeros(DType::uint8, {size.height, size.width, 3});
    auto* const pixels = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    const std::size_t line = std::size_t{size.width} * 3;
    for (std::size_t y = 0; y < size.height; ++y)
        for (std::size_t i = 0; i < line; ++i)
            pixels[y * line + i] = weighed(down[y], narrow.data() + i, line);
    return out;
}

Array letterbox_photo(const Array& photo, Grid grid) {
    check_photo(photo);
    const Letterbox box = letterbox(
        {static_cast<std::uint32_t>(photo.shape()[0]), static_cast<std::uint32_t>(photo.shape()[1])}, grid);
    const Array scaled = resize_photo(photo, box.scaled);
    const auto rows = scaled_places(grid.height, box.scaled.height, box.top);
    const auto columns = scaled_places(grid.width, box.scaled.width, box.left);
    Array out = Array::zeros(DType::uint8, {grid.height, grid.width, 3});
    auto* to = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    for (const std::ptrdiff_t row : rows)
        for (const std::ptrdiff_t column : columns) {
            if (row >= 0 && column >= 0)
                std::copy_n(scaled.data_as<std::uint8_t>() +
                                (row * static_cast<std::ptrdiff_t>(box.scaled.width) + column) * 3,
                            3, to);
            to += 3;
        }
    return out;
}

}  // namespace kandinsky
