#pragma once

#include <kandinsky/reference.hpp>
#include <span>

namespace kandinsky {

/// The shortfalls of one class in one image, in units of 1 / kWatchUnit, one for each share of
/// Reference::kShares: -x, where x is the largest number such that log2(p / (1 - p)) is at least x in this
/// share of the class's own pixels. `plane`: probabilities in [0, 1], not checked. `has` [pixel]: 1 where the
/// pixel has the class. Returns false, and writes nothing, if no pixel has it. The logarithm is as in
/// count_watched(). Linear time; scratch is kept by the thread.
[[nodiscard]] bool shortfalls(const float* plane, std::span<const std::uint8_t> has,
                              std::span<std::int64_t> out);

/// The classes whose labels are watched: all if there are at most 32, otherwise the first 32 of the layout's
/// classes.
[[nodiscard]] std::vector<std::uint32_t> labelled_classes(const Reference& layout, std::size_t classes);

/// How many shortfalls a monitor keeps for a class and share; a reference has at most half as many.
[[nodiscard]] std::size_t most_shortfalls(std::size_t classes);

}  // namespace kandinsky
