#pragma once

#include <cstdint>
#include <kandinsky/evaluate.hpp>
#include <vector>

#include "score/scored_tile.hpp"

namespace kandinsky {

/// Sums confidence and accuracy by bin, over all pixels and for each pixel of one tile. Fixed-point, so order
/// never shows.
class ReliabilityTile {
  public:
    /// `released`: half-precision probabilities and differences, those up to 0.02 left out and not counted,
    /// as the released code has it.
    ReliabilityTile(std::size_t classes, std::size_t pixels, bool released);

    void add(const ScoredTile& tile);
    /// Expected calibration error of each pixel of the tile, into map[class][first + i].
    void write_map(std::size_t first, std::vector<std::vector<double>>& map) const;

    struct Totals {
        std::vector<std::uint64_t> count, positive;
        std::vector<std::int64_t> confidence;  ///< in units of 2^-32
        explicit Totals(std::size_t classes)
            : count(classes * Reliability::kBins),
              positive(classes * Reliability::kBins),
              confidence(classes * Reliability::kBins) {}
        void add(const Totals& other);
        [[nodiscard]] std::vector<Reliability> finish() const;
    };
    [[nodiscard]] Totals totals() const;

  private:
    template <bool kReleased>
    void add_as(const ScoredTile& tile);

    std::size_t classes_, pixels_;
    bool released_;
    Totals totals_;
    std::vector<std::int64_t> gap_;    ///< [class][pixel][bin] sum of p - y
    std::vector<std::uint32_t> seen_;  ///< [class][pixel] images that count
};

}  // namespace kandinsky
