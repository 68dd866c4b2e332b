#include "io/mask/mask.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// The fine grid has kFine cells per pixel; kMiddle is the cell in the middle of a pixel. An outline crosses
/// the middle of column c when it steps between the fine column kFine * c + kMiddle and the next.
constexpr std::int64_t kFine = 5, kMiddle = 2;

struct FinePoint {
    std::int64_t x = 0, y = 0;
};

/// Columns of pixels from first to last; empty if last < first.
struct ColumnRange {
    std::int64_t first = 0, last = -1;
};

std::int64_t width_of(const Grid& grid) {
    return static_cast<std::int64_t>(grid.width);
}

/// COCO's rounding: truncates value + 0.5. This gives the nearest cell, except for some negative numbers,
/// which are outside the image.
std::int64_t nearest(double value) {
    return static_cast<std::int64_t>(value + 0.5);
}

/// An edge of the outline. The major axis is the one along which the edge is longer. Steps begin at the
/// corner with the lower major coordinate. Each step advances by one cell along the major axis; the minor
/// coordinate follows the slope.
class Edge {
  public:
    Edge(FinePoint a, FinePoint b) {
        flat_ = std::abs(b.x - a.x) >= std::abs(b.y - a.y);
        if (flat_ ? a.x > b.x : a.y > b.y) std::swap(a, b);
        start_ = a;
        steps_ = flat_ ? b.x - a.x : b.y - a.y;
        const std::int64_t rise = flat_ ? b.y - a.y : b.x - a.x;
        slope_ = steps_ == 0 ? 0.0 : static_cast<double>(rise) / static_cast<double>(steps_);
        low_ = std::min(a.x, b.x);
        high_ = std::max(a.x, b.x);
    }

    /// The image's columns whose middle the edge crosses: low <= kFine c + kMiddle < high.
    [[nodiscard]] ColumnRange columns(std::int64_t width) const {
        const std::int64_t above = std::max<std::int64_t>(0, low_ + kFine - 1 - kMiddle);
        const std::int64_t last = high_ - 1 < kMiddle ? -1 : (high_ - 1 - kMiddle) / kFine;
        return {.first = above / kFine, .last = std::min(last, width - 1)};
    }

    /// The fine row in which the edge steps from fine column `left` to the next; if the two cells lie in
    /// different rows, the upper row.
    [[nodiscard]] std::int64_t crossing(std::int64_t left) const {
        if (flat_) {
            const std::int64_t step = left - start_.x;
            return std::min(minor(start_.y, step), minor(start_.y, step + 1));
        }
        // Bisection finds the first step on the other side, because the column is monotone in the step.
        const bool rightwards = slope_ > 0;
        std::int64_t before = 0, after = steps_;
        while (after - before > 1) {
            const std::int64_t middle = before + (after - before) / 2;
            const bool right = minor(start_.x, middle) > left;
            (right == rightwards ? after : before) = middle;
        }
        return start_.y + before;
    }

  private:
    [[nodiscard]] std::int64_t minor(std::int64_t from, std::int64_t step) const {
        return nearest(static_cast<double>(from) + slope_ * static_cast<double>(step));
    }

    FinePoint start_;
    std::int64_t steps_ = 0, low_ = 0, high_ = 0;
    double slope_ = 0;
    bool flat_ = true;
};

constexpr unsigned char kFirst = '0';
constexpr unsigned kMore = 0x20, kSign = 0x10, kGroup = 0x1f, kGroupBits = 5;
/// Seven groups can store every 32-bit number with its sign; no image needs more.
constexpr unsigned kMostGroups = 7;
}  // namespace

void fill_polygon(std::span<const double> points, const Grid& grid, std::uint8_t* mask) {
    if (points.size() % 2 != 0) fail(ErrorKind::internal, "a polygon of {} numbers", points.size());
    if (points.empty() || grid.pixels() == 0) return;
    std::vector<FinePoint> corners;
    corners.reserve(points.size() / 2);
    for (std::size_t i = 0; i < points.size(); i += 2) {
        for (const double value : {points[i], points[i + 1]})
            if (!(std::abs(value) <= kLargestCoordinate))
                fail(ErrorKind::internal, "a polygon reaches to {}", value);
        corners.push_back({nearest(kFine * points[i]), nearest(kFine * points[i + 1])});
    }

    std::vector<Edge> edges;
    edges.reserve(corners.size());
    ColumnRange spanned{.first = width_of(grid), .last = -1};
    for (std::size_t i = 0; i < corners.size(); ++i) {
        edges.emplace_back(corners[i], corners[(i + 1) % corners.size()]);
        const ColumnRange columns = edges.back().columns(width_of(grid));
        spanned.first = std::min(spanned.first, columns.first);
        spanned.last = std::max(spanned.last, columns.last);
    }
    if (spanned.last < spanned.first) return;

    // toggles[(column - first) * height + row] is 1 where inside and outside change, column by column. A
    // crossing below the image is stored at the first row of the next column, because the state before
    // the crossing lasts to the end of the column.
    const auto height = static_cast<std::int64_t>(grid.height);
    std::vector<std::uint8_t> toggles(
        static_cast<std::size_t>((spanned.last - spanned.first + 1) * height + 1));
    for (const Edge& edge : edges) {
        const ColumnRange columns = edge.columns(width_of(grid));
        for (std::int64_t column = columns.first; column <= columns.last; ++column) {
            const std::int64_t y = std::max<std::int64_t>(0, edge.crossing(kFine * column + kMiddle));
            const std::int64_t row = std::min(height, (y + kMiddle) / kFine);
            toggles[static_cast<std::size_t>((column - spanned.first) * height + row)] ^= 1;
        }
    }

    std::uint8_t inside = 0;
    const std::uint8_t* toggle = toggles.data();
    for (auto x = static_cast<std::size_t>(spanned.first); x <= static_cast<std::size_t>(spanned.last); ++x)
        for (std::size_t y = 0; y < grid.height; ++y) {
            inside ^= *toggle++;
            mask[y * grid.width + x] |= inside;
        }
}

std::vector<std::int64_t> unpack_run_lengths(std::string_view text, std::size_t limit,
                                             const std::string& name) {
    std::vector<std::int64_t> runs;
    runs.reserve(std::min(text.size(), limit + 1));
    std::size_t at = 0;
    while (at < text.size()) {
        if (runs.size() > limit)
            fail(ErrorKind::data, "{}: there are more run lengths than pixels ({})", name, limit);
        std::int64_t value = 0;
        for (unsigned groups = 0;; ++groups) {
            if (at == text.size())
                fail(ErrorKind::data, "{}: the run lengths end within a number; the text is truncated", name);
            const unsigned code = static_cast<unsigned char>(text[at]) - unsigned{kFirst};
            if (code > (kMore | kGroup))
                fail(ErrorKind::data,
                     "{}: the run lengths hold the character '{}' at {}, which is not a digit", name,
                     printable(text.substr(at, 1)), at);
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
