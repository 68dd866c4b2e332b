#include "model/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kandinsky {

double Schedule::rate_at(std::uint64_t step, std::uint64_t steps) const {
    if (step < warm_up) return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
    double begin = static_cast<double>(warm_up);
    double length = cycle > 0 ? static_cast<double>(cycle) : static_cast<double>(steps) - begin;
    const auto at = static_cast<double>(step);
    while (at >= begin + length && length > 0) {
        begin += length;
        length *= std::max(growth, 1.0);
    }
    // A last cycle that the end cuts off is drawn together, so that training ends with small steps.
    length = std::min(length, static_cast<double>(steps) - begin);
    const double part = length > 1 ? (at - begin) / (length - 1) : 1;
    const double cosine = (1 + std::cos(std::numbers::pi * std::min(part, 1.0))) / 2;
    return last_rate + (rate - last_rate) * cosine;
}

double Schedule::share_at(std::uint64_t step, std::uint64_t steps) const {
    const double length = anneal * static_cast<double>(steps);
    if (static_cast<double>(step) >= length) return share;
    return first_share + (share - first_share) * static_cast<double>(step) / length;
}

}  // namespace kandinsky
