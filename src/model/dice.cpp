#include "model/dice.hpp"

#include <limits>

namespace kandinsky {

void Dice::add(std::size_t pixels, const float* probabilities, const std::uint8_t* targets,
               const std::uint8_t* valid) {
    const std::size_t outputs = both_.size();
    for (std::size_t p = 0; p < pixels; ++p) {
        if (valid[p] == 0) continue;
        std::size_t best = 0;
        for (std::size_t c = 1; c < outputs; ++c)
            if (probabilities[c * pixels + p] > probabilities[best * pixels + p]) best = c;
        for (std::size_t c = 0; c < outputs; ++c) {
            const bool taken = outputs == 1 ? probabilities[p] >= 0.5F : c == best;
            const bool true_there = targets[c * pixels + p] != 0;
            both_[c] += taken && true_there ? 2 : 0;
            sum_[c] += static_cast<std::uint64_t>(taken) + static_cast<std::uint64_t>(true_there);
        }
    }
}

void Dice::add(const Dice& other) {
    for (std::size_t c = 0; c < both_.size(); ++c) {
        both_[c] += other.both_[c];
        sum_[c] += other.sum_[c];
    }
}

double Dice::value(std::size_t output) const {
    return sum_[output] == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(both_[output]) / static_cast<double>(sum_[output]);
}

}  // namespace kandinsky
