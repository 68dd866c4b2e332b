#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kandinsky {

/// Some numbers over a stream of any length, in bounded memory. Each point covers a run of units; all runs
/// have the same length. If there are too many points, pairs are merged. In the first `last` columns a point
/// has the value of its last unit. In other columns it has the mean over the units with a value, or NaN
/// without such units; a merged point has the mean of its two points.
class ThinnedCurve {
  public:
    static constexpr std::size_t kMostPoints = 400;

    ThinnedCurve(std::size_t columns, std::size_t last) : columns_(columns), last_(last) { clear(); }

    void add(const std::vector<float>& row) {
        for (std::size_t c = 0; c < columns_; ++c) {
            if (c < last_) {
                pending_[c] = row[c];
            } else if (row[c] == row[c]) {
                pending_[c] = counts_[c] > 0 ? pending_[c] + row[c] : row[c];
                ++counts_[c];
            }
        }
        if (++filled_ == stride_) close();
    }

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t points() const { return values_.size() / columns_; }
    [[nodiscard]] std::uint64_t stride() const { return stride_; }
    [[nodiscard]] const std::vector<float>& values() const { return values_; }  ///< [point][column]
    /// The points, followed by a point for the units of an incomplete run, if there are any.
    [[nodiscard]] std::vector<float> with_pending() const {
        std::vector<float> out = values_;
        for (std::size_t c = 0; filled_ > 0 && c < columns_; ++c) out.push_back(pending_value(c));
        return out;
    }

    /// The content as it is stored in a file.
    struct Storage {
        std::vector<float> values, pending;
        std::vector<std::uint32_t> counts;
        std::uint64_t stride = 1, filled = 0;
    };
    [[nodiscard]] Storage storage() const { return {values_, pending_, counts_, stride_, filled_}; }
    /// Replaces the content. Returns false, and changes nothing, if the numbers are inconsistent.
    [[nodiscard]] bool restore(Storage from) {
        if (from.values.size() % columns_ != 0 || from.values.size() / columns_ > kMostPoints ||
            from.pending.size() != columns_ || from.counts.size() != columns_ || from.stride == 0 ||
            from.filled >= from.stride)
            return false;
        values_ = std::move(from.values), pending_ = std::move(from.pending),
        counts_ = std::move(from.counts);
        stride_ = from.stride, filled_ = from.filled;
        return true;
    }

  private:
    void clear() {
        pending_.assign(columns_, std::numeric_limits<float>::quiet_NaN());
        counts_.assign(columns_, 0);
        filled_ = 0;
    }
    [[nodiscard]] float pending_value(std::size_t c) const {
        return c < last_ || counts_[c] == 0 ? pending_[c] : pending_[c] / static_cast<float>(counts_[c]);
    }
    void close() {
        for (std::size_t c = 0; c < columns_; ++c) values_.push_back(pending_value(c));
        clear();
        if (points() < kMostPoints) return;
        std::vector<float> fewer;
        for (std::size_t point = 0; point + 1 < points(); point += 2)
            for (std::size_t c = 0; c < columns_; ++c) {
                const float a = values_[point * columns_ + c], b = values_[(point + 1) * columns_ + c];
                fewer.push_back(c < last_ || a != a ? b : b != b ? a : (a + b) / 2);
            }
        values_ = std::move(fewer);
        stride_ *= 2;
    }

    std::size_t columns_, last_;
    std::uint64_t stride_ = 1, filled_ = 0;
    std::vector<float> values_, pending_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace kandinsky
