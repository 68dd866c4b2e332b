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
    /// Takes the thresholds at 1 - alpha; the calibrator is not needed afterwards.
    Predictor(const Calibrator& calibrator, double alpha, EmptySets empty = EmptySets::automatic);

    [[nodiscard]] Grid grid() const { return grid_; }               ///< of every image
    [[nodiscard]] std::size_t classes() const { return classes_; }  ///< number of classes
    /// [class][pixel], on probabilities for the score lac, on scores for the others; of an average image
    /// where levels follow it.
    [[nodiscard]] std::span<const float> thresholds() const { return thresholds_; }
    /// Whether thresholds() are on probabilities.
    [[nodiscard]] bool on_probabilities() const { return score_.kind == ScoreKind::lac; }
    /// Bytes of a row of packed_sets().
    [[nodiscard]] std::size_t packed_width() const { return (grid_.width + 7) / 8; }

    /// sets[class][pixel] = 1 where the class is in the set. `probs` is [class][pixel]. Not checked:
    /// a NaN is in no set. Returns how many sets were filled.
    std::uint64_t sets(std::span<const float> probs, std::span<std::uint8_t> sets) const;
    /// The same as bits, [class][row][packed_width()], first column in the highest bit (numpy.packbits).
    std::uint64_t packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const;

    /// sets() of half-precision probabilities, given by their bits. Returns nothing if one of them is not in
    /// [0, 1], for scores that need a probability more than once, and if levels follow the image: use sets()
    /// then.
    [[nodiscard]] std::optional<std::uint64_t> half_sets(std::span<const std::uint16_t> probs,
                                                         std::span<std::uint8_t> sets) const;

  private:
    struct Adapted;  ///< the sets of a class whose levels follow the image
    void adapted_sets(std::span<const float> probs, std::span<std::uint8_t> sets) const;

    Grid grid_;
    std::size_t classes_;
    ScoreOptions score_;
    /// [class] where its levels follow the image, else null; none at all where no class's do.
    std::vector<std::shared_ptr<const Adapted>> adapted_;
    EmptySets empty_;
    std::vector<float> thresholds_;
    std::vector<std::uint16_t> half_thresholds_;
};

/// Predictor(calibrator, alpha, empty) without exceptions.
[[nodiscard]] Result<Predictor> try_predictor(const Calibrator& calibrator, double alpha,
                                              EmptySets empty = EmptySets::automatic) noexcept;

/// Conformal p-values of every class at every pixel, [class][pixel] in and out: a class is in the set at
/// alpha if and only if its p-value exceeds alpha. Const use from several threads is safe.
void p_values(const Calibrator& calibrator, std::span<const float> probs, std::span<float> out);

}  // namespace kandinsky
