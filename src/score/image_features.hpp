#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/image_features.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/score.hpp>
#include <vector>

#include "score/feature_kernels.hpp"

namespace kandinsky {

/// The sums of the features, added run by run of an image. Probabilities count as multiples of 1/4096 and
/// sums are integers, so the order and length of the runs have no effect.
class FeatureSums {
  public:
    static constexpr std::uint32_t kOne = 4096;  ///< the probability 1

    /// Adds one class's probabilities in a run of pixels. No allocation; NaN counts as 0.
    void add(const float* probs, std::size_t n);
    /// The features of the pixels added so far.
    [[nodiscard]] ImageFeatures features() const;

  private:
    FeatureTotals totals_;
};

/// The features of a stratum, from the features of all classes: those of its class, or the means if classes
/// are pooled.
[[nodiscard]] ImageFeatures stratum_features(std::span<const ImageFeatures> classes, std::size_t strata,
                                             std::size_t stratum);

/// The features of every class in an image; reads the image once.
[[nodiscard]] std::vector<ImageFeatures> features_of(const Dataset& data, std::size_t image);

/// The features of every stratum in all images of this rank, [image][stratum], in one pass.
[[nodiscard]] std::vector<std::vector<ImageFeatures>> features_of(const Dataset& data, Condition condition,
                                                                  Progress& progress);

}  // namespace kandinsky
