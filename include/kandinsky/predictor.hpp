#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/result.hpp>
#include <memory>
#include <optional>

namespace KANDINSKY_API kandinsky {

/// Prediction sets at one level: scores are computed (except for lac) and compared with thresholds. Const use
/// is thread-safe. Nothing is allocated per image (each thread keeps its scratch from its first image).
class Predictor {
  public:
    /// Copies the thresholds at 1 - alpha, so the calibrator is not needed afterwards. Throws a usage error
    /// if alpha is not in [0, 1] or cannot be guaranteed (RiskLevels), or if `empty` contradicts the
    /// guarantee.
    Predictor(const Calibrator& calibrator, double alpha, EmptySets empty = EmptySets::automatic);

    [[nodiscard]] Grid grid() const { return grid_; }               ///< of every image
    [[nodiscard]] std::size_t classes() const { return classes_; }  ///< number of classes
    /// [class][pixel]: thresholds on probabilities for the score lac, on scores for the others. If levels
    /// follow the image, the thresholds are those of an image with shift 0.
    [[nodiscard]] std::span<const float> thresholds() const { return thresholds_; }
    /// Whether thresholds() are on probabilities.
    [[nodiscard]] bool on_probabilities() const { return score_.kind == ScoreKind::lac; }
    /// Bytes of a row of packed_sets().
    [[nodiscard]] std::size_t packed_width() const { return (grid_.width + 7) / 8; }

    /// Writes 1 to sets[class][pixel] where the class is in the set, else 0. `probs` is [class][pixel], in
    /// [0, 1]; values are not checked. A class whose probability is NaN is in no set, unless it fills an
    /// empty one. Returns how many sets were filled. Throws a usage error unless both spans have classes() *
    /// grid().pixels() elements.
    std::uint64_t sets(std::span<const float> probs, std::span<std::uint8_t> sets) const;
    /// sets() as bits, [class][row][packed_width()]; the first column is the highest bit (numpy.packbits).
    std::uint64_t packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const;

    /// sets() of half-precision probabilities, given by their bits, for the score lac. Returns nothing for
    /// other scores, if levels follow the image, or if a probability is not in [0, 1]: use sets() then, which
    /// overwrites `sets`.
    [[nodiscard]] std::optional<std::uint64_t> half_sets(std::span<const std::uint16_t> probs,
                                                         std::span<std::uint8_t> sets) const;

  private:
    struct Adapted;  ///< the sets of a class whose levels follow the image
    void adapted_sets(std::span<const float> probs, std::span<std::uint8_t> sets) const;

    Grid grid_;
    std::size_t classes_;
    ScoreOptions score_;
    /// [class] null if the levels of the class do not follow the image; empty if all would be null.
    std::vector<std::shared_ptr<const Adapted>> adapted_;
    EmptySets empty_;
    std::vector<float> thresholds_;
    std::vector<std::uint16_t> half_thresholds_;
};

/// Predictor(calibrator, alpha, empty) without exceptions.
[[nodiscard]] Result<Predictor> try_predictor(const Calibrator& calibrator, double alpha,
                                              EmptySets empty = EmptySets::automatic) noexcept;

/// Conformal p-values of one image, [class][pixel] in and out: before empty sets are filled, a class is in
/// the set at alpha if and only if its p-value exceeds alpha. `probs` must lie in [0, 1], which is not
/// checked; where NaN makes a score NaN, the p-value is 0. Thread-safe. Throws a usage error for spans of the
/// wrong length and for Risk::precision.
void p_values(const Calibrator& calibrator, std::span<const float> probs, std::span<float> out);

}  // namespace kandinsky
