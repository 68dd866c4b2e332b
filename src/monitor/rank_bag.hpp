#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/random.hpp"

namespace kandinsky {

/// The values of one feature, ascending, among which a new value is ranked. The number of values is limited:
/// a full bag drops one value at random, which may be the new value; all are equally likely. The choice does
/// not depend on the values, so ranks stay uniform and independent (docs/monitoring.md has the proof).
class RankBag {
  public:
    explicit RankBag(std::vector<float> ascending) : values_(std::move(ascending)) {}

    /// The smoothed rank of a value among the bag and itself, in (0, 1], small for large values. Then adds
    /// the value; a bag of `most` values drops one. No NaN. Linear in the size of the bag.
    double rank_and_keep(float value, Random chance, std::size_t most) {
        const auto low = std::lower_bound(values_.begin(), values_.end(), value);
        // Most values are not yet in the bag; then the second search is not needed.
        const auto high =
            low == values_.end() || *low != value ? low : std::upper_bound(low, values_.end(), value);
        const auto above = static_cast<double>(values_.end() - high), equal = static_cast<double>(high - low);
        const double theta = chance.uniform() + 0x1.0p-54;  // in (0, 1]: the largest sum rounds up
        const double p = (above + theta * (equal + 1)) / static_cast<double>(values_.size() + 1);
        const auto place = high - values_.begin();
        if (values_.size() < most) {
            values_.insert(high, value);
            return p;
        }
        // Removes one value and inserts the new one in one step: only the values between them move.
        const auto out = static_cast<std::ptrdiff_t>(chance.below(values_.size() + 1));
        const auto begin = values_.begin();
        if (out < place) {
            std::move(begin + out + 1, begin + place, begin + out);
            begin[place - 1] = value;
        } else if (out > place) {
            std::move_backward(begin + place, begin + out - 1, begin + out);
            begin[place] = value;
        }
        return p;
    }
    [[nodiscard]] const std::vector<float>& values() const { return values_; }

  private:
    std::vector<float> values_;
};

}  // namespace kandinsky
