#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/score.hpp>
#include <optional>
#include <vector>

#include "score/scoring.hpp"

namespace kandinsky {

/// Scores with few distinct values: half-precision or byte probabilities with a score that depends on one
/// probability. Each value has a code of 14 bits that ascends with the score: the stored bits, or a constant
/// minus them. No float is formed, sorting takes two passes instead of four, and counting codes is exact.
class NarrowScores {
  public:
    static constexpr unsigned kBits = 14;
    static constexpr std::size_t kCodes = std::size_t{1} << kBits;

    /// Returns nothing for other scores, types and memory layouts. The data must outlive the result.
    [[nodiscard]] static std::optional<NarrowScores> of(const Dataset& data, const ScoreOptions& options,
                                                        Condition condition);

    /// The codes of class c; without meaning where a probability is not in [0, 1]. `out` has room for the
    /// range. No allocation.
    void read(std::size_t image, PixelRange range, std::size_t c, std::uint16_t* out) const;
    /// The score that a code of class c stands for.
    [[nodiscard]] float score(std::size_t c, std::uint32_t code) const { return table(c)[code]; }
    /// The scores of class c by their codes, kCodes of them.
    [[nodiscard]] const float* table(std::size_t c) const {
        return table_.data() + (single_ && c == 0 ? kCodes : 0);
    }

  private:
    NarrowScores() = default;

    const Dataset* data_ = nullptr;
    bool halves_ = false;  ///< half precision; bytes otherwise
    bool single_ = false;  ///< one plane is stored: class 0 has the probability 1 - p
    std::uint16_t top_ = 0;
    std::vector<float> table_;
};

}  // namespace kandinsky
