#pragma once

#include <kandinsky/calibrator.hpp>
#include <span>
#include <vector>

namespace kandinsky {

/// Writes the shift of each stratum's levels to out[stratum]; 0 if the levels do not follow the image.
/// `classes`: the features of the image's classes. No allocation.
void shifts_of(const Calibrator& calibrator, std::span<const ImageFeatures> classes,
               std::span<std::int32_t> out);

/// Replaces the scores of one class at some pixels of an image by the values that are compared with
/// value_threshold(): a class is in the set if and only if its value is at most the threshold. For strata
/// with adaptation_of(). Values are finite and ascend with the score; NaN stays NaN.
void adapt_scores(const Calibrator& calibrator, std::size_t stratum, std::int32_t shift, PixelRange range,
                  float* scores);

/// The threshold of values at 1 - alpha, which is the same at every pixel and in every image. Throws as
/// curve_alpha().
[[nodiscard]] float value_threshold(const Calibrator& calibrator, std::size_t stratum, double alpha);

/// The p-value of a value: a class is in the set at alpha < 1 if and only if its p-value exceeds alpha.
[[nodiscard]] double value_p(const Calibrator& calibrator, std::size_t stratum, float value);

/// The sets at one alpha of one stratum whose levels follow the image. Thresholds are stored for all possible
/// shifts, or for some shifts if memory is short. Few scores lie between the stored thresholds of the two
/// shifts around the image's own, and only these scores are compared with the curves.
class AdaptedSets {
  public:
    /// `most_bytes`: limit for the thresholds of all strata together; up to five shifts are kept in any case.
    AdaptedSets(const Calibrator& calibrator, std::size_t stratum, double alpha,
                std::size_t most_bytes = std::size_t{32} << 20);

    /// out[pixel] = 1 where the class is in the set, from its scores in a whole image. No allocation.
    void sets(std::int32_t shift, const float* scores, std::uint8_t* out) const;
    [[nodiscard]] std::int32_t shift(const ImageFeatures& features) const {
        return adaptation_.shift(features);
    }

  private:
    Adaptation adaptation_;
    SmoothCurves curves_;
    Grid grid_;
    std::size_t rung_ = 0;            ///< rung used for alpha
    std::vector<std::int32_t> kept_;  ///< shifts, ascending
    std::vector<float> limits_;       ///< [kept shift][pixel]
};

}  // namespace kandinsky
