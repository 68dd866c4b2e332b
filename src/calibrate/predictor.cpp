#include <cmath>
#include <kandinsky/predictor.hpp>

#include "core/fail.hpp"

namespace kandinsky {

namespace {
void check_size(std::size_t given, std::size_t needed, const char* what) {
    if (given != needed)
        fail(ErrorKind::usage, "[predict] {} has {} values, but {} are needed", what, given, needed);
}
}  // namespace

Predictor::Predictor(const Calibrator& calibrator, double alpha)
    : grid_(calibrator.grid),
      classes_(calibrator.classes),
      thresholds_(kandinsky::thresholds(calibrator, alpha)) {}

void Predictor::sets(std::span<const float> probs, std::span<std::uint8_t> sets) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(sets.size(), thresholds_.size(), "sets");
    const float* const limit = thresholds_.data();
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = probs[i] >= limit[i];
}

void Predictor::packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(bits.size(), classes_ * grid_.height * packed_width(), "bits");
    const std::size_t width = grid_.width;
    std::uint8_t* out = bits.data();
    for (std::size_t row = 0; row < classes_ * grid_.height; ++row) {
        const float* const p = probs.data() + row * width;
        const float* const limit = thresholds_.data() + row * width;
        for (std::size_t x = 0; x < width; x += 8) {
            unsigned byte = 0;
            const std::size_t count = std::min<std::size_t>(8, width - x);
            for (std::size_t b = 0; b < count; ++b)
                byte |= static_cast<unsigned>(p[x + b] >= limit[x + b]) << (7 - b);
            *out++ = static_cast<std::uint8_t>(byte);
        }
    }
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
