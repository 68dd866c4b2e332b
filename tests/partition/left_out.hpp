#pragma once

#include "partition/samples.hpp"
#include "support/synthetic.hpp"

namespace kandinsky::partition {

using namespace kandinsky::test;

inline SoftInput input_of(const Dataset& data, const Census& census, const MethodSettings& settings) {
    return {.data = data,
            .census = census,
            .score = {},
            .strata = {0, 1},
            .pooling = Pooling::groups,
            .ladder = Ladder::uniform(20),
            .leave_one_out = true,
            .settings = &settings,
            .progress = silent()};
}

/// A random small problem: grid, groups, ties and ignored labels vary.
inline Made problem(std::uint64_t seed) {
    Random random(seed, 31);
    const auto some = [&](std::uint64_t most) { return 1 + random.below(most); };
    const std::uint32_t side = seed % 25 == 1 ? 100 : 25;  // large enough for cells of several pixels
    return make({.images = 2 + random.below(9),
                 .grid = {static_cast<std::uint32_t>(some(side)), static_cast<std::uint32_t>(side)},
                 .seed = seed,
                 .groups = seed % 3 == 0 ? 0 : some(6),
                 .ignored = seed % 4 == 0 ? 0.7 : 0.0,
                 .steps = seed % 5 == 0 ? 8 : std::size_t{0}});
}

}  // namespace kandinsky::partition
