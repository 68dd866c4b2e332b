#pragma once

#include <cstdint>

namespace kandinsky {

/// How the learning rate and the share of hard pixels move during training.
struct Schedule {
    double rate = 1e-4;         ///< at the start of each cycle
    double last_rate = 1e-6;    ///< at its end
    std::uint64_t warm_up = 0;  ///< steps of linear increase at the very start
    std::uint64_t cycle = 0;    ///< steps of the first cosine cycle; 0: one cycle over all steps
    double growth = 2;          ///< each cycle is so many times the one before
    double share = 0.1;         ///< of the pixels that counts in the end
    double first_share = 1;     ///< at the start
    double anneal = 0;          ///< share of all steps over which it falls from first to last; 0: at once

    /// For step 0 .. steps-1.
    [[nodiscard]] double rate_at(std::uint64_t step, std::uint64_t steps) const;
    [[nodiscard]] double share_at(std::uint64_t step, std::uint64_t steps) const;
};

}  // namespace kandinsky
