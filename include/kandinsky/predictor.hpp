#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <memory>
#include <span>
#include <vector>

namespace kandinsky {

/// Prediction sets at one level, ready for use: compare and store, nothing else. Const use from several
/// threads is safe and allocates nothing.
class Predictor {
  public:
    Predictor(const Calibrator& calibrator, double alpha);

    [[nodiscard]] Grid grid() const { return grid_; }
    [[nodiscard]] std::size_t classes() const { return classes_; }
    [[nodiscard]] std::span<const float> thresholds() const {
        return thresholds_;
    }  ///< [class][pixel], on probabilities
    [[nodiscard]] std::size_t packed_width() const { return (grid_.width + 7) / 8; }

    /// sets[class][pixel] = 1 where the class is in the set. `probs` is [class][pixel]; Not checked:
    /// a NaN is in no set.
    void sets(std::span<const float> probs, std::span<std::uint8_t> sets) const;
    /// The same as bits, [class][row][packed_width()], first column in the highest bit (numpy.packbits along
    /// the last axis).
    void packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const;

    /// sets() of half-precision probabilities, given by their bits. False when one of them is not in [0, 1];
    /// the sets are then of no use.
    [[nodiscard]] bool half_sets(std::span<const std::uint16_t> probs, std::span<std::uint8_t> sets) const;

  private:
    Grid grid_;
    std::size_t classes_;
    std::vector<float> thresholds_;
    std::vector<std::uint16_t> half_thresholds_;
};

/// Conformal p-values of every class at every pixel, [class][pixel] in and out: a class is in the set at
/// alpha if and only if its p-value exceeds alpha. Const use from several threads is safe.
void p_values(const Calibrator& calibrator, std::span<const float> probs, std::span<float> out);

}  // namespace kandinsky
