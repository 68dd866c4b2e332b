#include "io/mask/run_lengths.hpp"

#include <algorithm>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
constexpr unsigned char kFirst = '0';
constexpr unsigned kMore = 0x20, kSign = 0x10, kGroup = 0x1f, kGroupBits = 5;
/// Seven groups hold every 32-bit number with its sign; no image needs more.
constexpr unsigned kMostGroups = 7;
}  // namespace

std::vector<std::int64_t> unpack_run_lengths(std::string_view text, std::size_t limit,
                                             const std::string& name) {
    std::vector<std::int64_t> runs;
    runs.reserve(std::min(text.size(), limit + 1));
    std::size_t at = 0;
    while (at < text.size()) {
        if (runs.size() > limit)
            fail(ErrorKind::data, "{}: the run lengths are more than the image has pixels ({})", name, limit);
        std::int64_t value = 0;
        for (unsigned groups = 0;; ++groups) {
            if (at == text.size())
                fail(ErrorKind::data, "{}: the run lengths end within a number; the text is cut short", name);
            const unsigned code = static_cast<unsigned char>(text[at]) - unsigned{kFirst};
            if (code > (kMore | kGroup))
                fail(ErrorKind::data, "{}: the run lengths hold the character '{}' at {}, which is no digit",
                     name, printable(text.substr(at, 1)), at);
            if (groups == kMostGroups)
                fail(ErrorKind::data, "{}: the run lengths hold a number that is too long at {}", name, at);
            ++at;
            value |= static_cast<std::int64_t>(code & kGroup) << (kGroupBits * groups);
            if ((code & kMore) != 0) continue;
            if ((code & kSign) != 0) value -= std::int64_t{1} << (kGroupBits * (groups + 1));
            break;
        }
        if (runs.size() > 2) value += runs[runs.size() - 2];
        if (value < 0 || value > static_cast<std::int64_t>(limit))
            fail(ErrorKind::data, "{}: run {} is {} pixels long, but the image has {}", name, runs.size(),
                 value, limit);
        runs.push_back(value);
    }
    return runs;
}

void fill_run_lengths(std::span<const std::int64_t> runs, const Grid& grid, std::uint8_t* mask,
                      const std::string& name) {
    const auto pixels = static_cast<std::int64_t>(grid.pixels());
    std::int64_t total = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i] < 0 || runs[i] > pixels - total)
            fail(ErrorKind::data, "{}: run {} is {} pixels long, but only {} of {} x {} are left", name, i,
                 runs[i], pixels - total, grid.height, grid.width);
        total += runs[i];
    }
    if (total != pixels)
        fail(ErrorKind::data, "{}: the run lengths add up to {}, but the image has {} x {} = {} pixels", name,
             total, grid.height, grid.width, pixels);
    std::size_t row = 0, column = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        auto left = static_cast<std::size_t>(runs[i]);
        while (left > 0) {
            const std::size_t here = std::min(left, grid.height - row);
            if (i % 2 == 1)
                for (std::size_t y = row; y < row + here; ++y) mask[y * grid.width + column] = 1;
            left -= here;
            row += here;
            if (row == grid.height) {
                row = 0;
                ++column;
            }
        }
    }
}

}  // namespace kandinsky
