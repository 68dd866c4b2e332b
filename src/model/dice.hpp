#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kandinsky {

/// Dice's overlap per output, 2 |A and B| / (|A| + |B|) over all pixels added, from whole counts.
class Dice {
  public:
    explicit Dice(std::size_t outputs) : both_(outputs, 0), sum_(outputs, 0) {}

    /// Adds one image: probabilities and targets [outputs][pixels], valid [pixels]. With one output a pixel
    /// belongs to it from probability 1/2 on; with several, each belongs to the output with the largest one.
    void add(std::size_t pixels, const float* probabilities, const std::uint8_t* targets,
             const std::uint8_t* valid);
    void add(const Dice& other);
    /// NaN where neither side has a pixel.
    [[nodiscard]] double value(std::size_t output) const;

  private:
    std::vector<std::uint64_t> both_, sum_;
};

}  // namespace kandinsky
