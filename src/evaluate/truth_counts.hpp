#pragma once

#include <cstdint>
#include <vector>

#include "evaluate/tally.hpp"
#include "score/scored_tile.hpp"
#include "score/visit_sums.hpp"

namespace kandinsky {

/// Which labels the test images have, at each pixel and in each image.
class TruthCounts {
  public:
    explicit TruthCounts(const Dataset& data);
    /// Safe from several threads whose ranges are disjoint.
    void add(const ScoredTile& tile, PixelRange range, std::size_t image);
    void list(PixelRange range, VisitSums& sums);  ///< the counts of these pixels
    void list_images(VisitSums& sums);             ///< the counts of images
    /// Writes labels, labelled, samples and kinds.
    void finish(Tally& out) const;

  private:
    std::size_t classes_, pixels_;
    std::vector<std::uint32_t> labelled_, samples_;  ///< [pixel] and [class][pixel]
    std::vector<std::uint8_t> shown_;                ///< [image][class] whether the class is there
};

}  // namespace kandinsky
