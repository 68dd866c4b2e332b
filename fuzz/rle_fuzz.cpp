// Draws run lengths or a polygon into a small image. The input is [height, width, kind, content], one byte
// for each of the first three. Kind 0: run lengths as text; 1: corners as doubles; 2: corners as 16-bit
// tenths.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness.hpp"
#include "io/mask/mask.hpp"
#include "io/mask/pack_run_lengths.hpp"

namespace {

using namespace kandinsky;

void draw_runs(std::string_view text, const Grid& grid, std::vector<std::uint8_t>& mask) {
    const std::vector<std::int64_t> runs = unpack_run_lengths(text, grid.pixels(), "runs");
    fuzz::check(unpack_run_lengths(pack_run_lengths(runs), grid.pixels(), "runs") == runs,
                "packing and unpacking changes run lengths");
    fill_run_lengths(runs, grid, mask.data(), "runs");
    std::int64_t ones = 0;
    for (std::size_t i = 1; i < runs.size(); i += 2) ones += runs[i];
    fuzz::check(std::count(mask.begin(), mask.end(), 1) == ones, "the mask has another area than its runs");
}

/// Coordinates that a file may have: any finite number up to the limit.
void draw_polygon(std::span<const std::uint8_t> bytes, bool wide, const Grid& grid,
                  std::vector<std::uint8_t>& mask) {
    std::vector<double> points;
    const std::size_t width = wide ? sizeof(double) : 2;
    for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
        double value = 0;
        std::int16_t tenths = 0;
        if (wide) {
            std::memcpy(&value, bytes.data() + at, width);
        } else {
            std::memcpy(&tenths, bytes.data() + at, width);
            value = tenths / 10.0;
        }
        if (!(std::abs(value) <= kLargestCoordinate)) value = 0;
        points.push_back(value);
    }
    if (points.size() % 2 != 0) points.pop_back();
    fill_polygon(points, grid, mask.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    const Grid grid{bytes.between(1, 64), bytes.between(1, 64)};
    const std::uint32_t which = bytes.below(3);
    std::vector<std::uint8_t> mask(grid.pixels(), 0);
    const auto rest = bytes.rest();
    if (which == 0)
        fuzz::result_or_error([&] {
            draw_runs({reinterpret_cast<const char*>(rest.data()), rest.size()}, grid, mask);
        });
    else
        draw_polygon(rest, which == 1, grid, mask);
    for (const std::uint8_t value : mask) fuzz::check(value <= 1, "a mask that is neither 0 nor 1");
    return 0;
}
