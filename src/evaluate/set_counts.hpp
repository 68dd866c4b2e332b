#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <limits>

namespace kandinsky {

/// part / whole; NaN of nothing.
[[nodiscard]] inline double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
}

/// What the sets of labelled pixels hold, in whole numbers.
struct SetCounts {
    std::uint64_t sets = 0;     ///< one for each pixel with a label
    std::uint64_t members = 0;  ///< classes in all of them together
    std::uint64_t wrong = 0;    ///< those of them that the pixel does not have
    std::uint64_t empty = 0;    ///< sets without a class
    std::uint64_t single = 0;   ///< sets of one class
    std::uint64_t right = 0;    ///< those of them whose class the pixel has
    std::uint64_t full = 0;     ///< sets with every class

    SetCounts& operator+=(const SetCounts& other) {
        for (auto count : {&SetCounts::sets, &SetCounts::members, &SetCounts::wrong, &SetCounts::empty,
                           &SetCounts::single, &SetCounts::right, &SetCounts::full})
            this->*count += other.*count;
        return *this;
    }

    /// The counts once `filled` empty sets got a class each, which the pixel has in `hits` of them.
    [[nodiscard]] SetCounts with_filled(std::uint64_t filled, std::uint64_t hits) const {
        return {sets, members + filled, wrong + filled - hits, empty - filled, single + filled, right + hits,
                full};
    }

    [[nodiscard]] SetFigures figures() const {
        return {.size = share_of(members, sets),
                .false_classes = share_of(wrong, sets),
                .empty = share_of(empty, sets),
                .single = share_of(single, sets),
                .single_right = share_of(right, single),
                .full = share_of(full, sets)};
    }
};

}  // namespace kandinsky
