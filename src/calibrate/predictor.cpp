#include <cmath>
#include <kandinsky/predictor.hpp>

#include "core/compare_kernels.hpp"
#include "core/fail.hpp"
#include "core/half.hpp"

namespace kandinsky {

namespace {
void check_size(std::size_t given, std::size_t needed, const char* what) {
    if (given != needed)
        fail(ErrorKind::usage, "[predict] {} has {} values, but {} are needed", what, given, needed);
}

/// The bits of the smallest half-precision probability at or above a threshold: the two let the same pass.
std::uint16_t half_limit(float threshold) {
    if (threshold <= 0) return 0;
    if (!(threshold <= 1)) return 0xFFFF;
    const std::uint16_t nearest = float_to_half(threshold);
    return static_cast<std::uint16_t>(nearest + (half_to_float(nearest) < threshold));
}
}  // namespace

Predictor::Predictor(const Calibrator& calibrator, double alpha)
    : grid_(calibrator.grid),
      classes_(calibrator.classes),
      thresholds_(kandinsky::thresholds(calibrator, alpha)),
      half_thresholds_(thresholds_.size()) {
    for (std::size_t i = 0; i < thresholds_.size(); ++i) half_thresholds_[i] = half_limit(thresholds_[i]);
}

void Predictor::sets(std::span<const float> probs, std::span<std::uint8_t> sets) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(sets.size(), thresholds_.size(), "sets");
    at_least(probs.data(), thresholds_.data(), sets.size(), sets.data());
}

void Predictor::packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(bits.size(), classes_ * grid_.height * packed_width(), "bits");
    const std::size_t width = grid_.width;
    for (std::size_t row = 0; row < classes_ * grid_.height; ++row)
        at_least_bits(probs.data() + row * width, thresholds_.data() + row * width, width,
                      bits.data() + row * packed_width());
}

bool Predictor::half_sets(std::span<const std::uint16_t> probs, std::span<std::uint8_t> sets) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(sets.size(), thresholds_.size(), "sets");
    return halves_at_least(reinterpret_cast<const std::byte*>(probs.data()), half_thresholds_.data(),
                           sets.size(), sets.data());
}

void p_values(const Calibrator& calibrator, std::span<const float> probs, std::span<float> out) {
    const std::size_t pixels = calibrator.grid.pixels();
    check_size(probs.size(), calibrator.classes * pixels, "probs");
    check_size(out.size(), calibrator.classes * pixels, "out");
    score(calibrator.options.score, calibrator.classes, pixels, probs.data(), out.data());
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        for (std::size_t p = 0; p < pixels; ++p) {
            float& value = out[c * pixels + p];
            // Rounded down: nearest would lift 0.1 above 0.1, and the set at alpha = 0.1 would gain a class.
            const double exact = calibrator.curves[s].p_value(calibrator.curve_of(s, p), value);
            value = static_cast<float>(exact);
            if (static_cast<double>(value) > exact) value = std::nextafter(value, 0.0f);
        }
    }
}

}  // namespace kandinsky
