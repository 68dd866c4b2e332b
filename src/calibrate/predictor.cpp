#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <kandinsky/predictor.hpp>

#include "calibrate/adapted_values.hpp"
#include "calibrate/empty_rule.hpp"
#include "core/base/attempt.hpp"
#include "core/base/fail.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/kernel/compare_kernels.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/pack_bits.hpp"
#include "score/image_features.hpp"
#include "score/planes.hpp"
#include "score/scoring.hpp"

namespace kandinsky {

namespace {
void check_size(std::size_t given, std::size_t needed, const char* what) {
    if (given != needed)
        fail(ErrorKind::usage, "[predict] {} has {} values, but {} are needed", what, given, needed);
}

/// The bits of the smallest half-precision probability that is at least the threshold. This limit accepts the
/// same half-precision probabilities as the threshold.
std::uint16_t half_limit(float threshold) {
    if (threshold <= 0) return 0;
    if (!(threshold <= 1)) return 0xFFFF;
    const std::uint16_t nearest = float_to_half(threshold);
    return static_cast<std::uint16_t>(nearest + (half_to_float(nearest) < threshold));
}
}  // namespace

/// A class with a name of its own, so that the public header does not name an internal class.
struct Predictor::Adapted : AdaptedSets {
    using AdaptedSets::AdaptedSets;
};

Predictor::Predictor(const Calibrator& calibrator, double alpha, EmptySets empty)
    : grid_(calibrator.grid),
      classes_(calibrator.classes),
      score_(calibrator.options.score),
      empty_(empty_rule(empty, calibrator)),
      thresholds_(score_thresholds(calibrator, alpha)) {
    if (on_probabilities())
        for (float& limit : thresholds_) limit = probability_threshold(score_, limit);
    for (std::size_t c = 0; c < classes_ && calibrator.adapts(); ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        adapted_.push_back(c > s ? adapted_.front()
                           : calibrator.adaptation_of(s) == nullptr
                               ? nullptr
                               : std::make_shared<const Adapted>(calibrator, s, alpha));
    }
    if (!on_probabilities()) return;
    half_thresholds_.resize(thresholds_.size());
    for (std::size_t i = 0; i < thresholds_.size(); ++i) half_thresholds_[i] = half_limit(thresholds_[i]);
}

namespace {
/// sets[class][pixel] by scores, a run of pixels at a time so that the scores stay in the cache.
void sets_by_score(const ScoreOptions& score, std::size_t classes, std::size_t pixels,
                   std::span<const float> probs, std::span<const float> limits,
                   std::span<std::uint8_t> sets) {
    constexpr std::size_t kRun = 1024;
    std::vector<float>& scores = thread_buffer<float, struct SetsByScore>();
    if (scores.size() < classes * kRun) scores.resize(classes * kRun);
    const std::uint64_t image = score.randomized ? image_key(classes, pixels, probs.data()) : 0;
    for (std::size_t begin = 0; begin < pixels; begin += kRun) {
        const std::size_t n = std::min(kRun, pixels - begin);
        score_planes(score, classes, n, probs.data() + begin, pixels, scores.data(), kRun,
                     {.image = image, .first_pixel = begin});
        for (std::size_t c = 0; c < classes; ++c) {
            const float* const limit = limits.data() + c * pixels + begin;
            std::uint8_t* const out = sets.data() + c * pixels + begin;
            for (std::size_t i = 0; i < n; ++i) out[i] = scores[c * kRun + i] <= limit[i];
        }
    }
}

/// The same for the score near, one class after the other.
void sets_by_near(std::size_t classes, Grid grid, std::span<const float> probs, std::span<const float> limits,
                  std::span<std::uint8_t> sets) {
    const std::size_t pixels = grid.pixels();
    std::vector<float>& scores = thread_buffer<float, struct SetsByScore>();
    if (scores.size() < pixels) scores.resize(pixels);
    for (std::size_t c = 0; c < classes; ++c) {
        score_image({.kind = ScoreKind::near}, 1, grid, probs.data() + c * pixels, scores.data());
        const float* const limit = limits.data() + c * pixels;
        std::uint8_t* const out = sets.data() + c * pixels;
        for (std::size_t i = 0; i < pixels; ++i) out[i] = scores[i] <= limit[i];
    }
}

/// Puts the most probable class into every empty set; returns the number of these sets. prob(i): value i of
/// [class][pixel].
template <class Prob>
std::uint64_t fill_empty(std::size_t classes, std::size_t pixels, Prob&& prob, std::span<std::uint8_t> sets) {
    constexpr std::size_t kRun = 1024;
    std::uint64_t filled = 0;
    std::array<std::uint8_t, kRun> any;
    for (std::size_t begin = 0; begin < pixels; begin += kRun) {
        const std::size_t n = std::min(kRun, pixels - begin);
        std::copy_n(sets.data() + begin, n, any.data());
        for (std::size_t c = 1; c < classes; ++c) {
            const std::uint8_t* const in = sets.data() + c * pixels + begin;
            for (std::size_t i = 0; i < n; ++i) any[i] |= in[i];
        }
        const auto* at = any.data();
        while ((at = static_cast<const std::uint8_t*>(
                    std::memchr(at, 0, static_cast<std::size_t>(any.data() + n - at)))) != nullptr) {
            const std::size_t p = begin + static_cast<std::size_t>(at - any.data());
            std::size_t best = 0;
            for (std::size_t c = 1; c < classes; ++c)
                if (prob(c * pixels + p) > prob(best * pixels + p)) best = c;
            sets[best * pixels + p] = 1;
            ++filled;
            ++at;
        }
    }
    return filled;
}
}  // namespace

void Predictor::adapted_sets(std::span<const float> probs, std::span<std::uint8_t> sets) const {
    const std::size_t pixels = grid_.pixels();
    // If the scores of a class need no other class, they are computed while its probabilities are still in
    // the cache.
    const bool alone = score_.kind == ScoreKind::near || score_.kind == ScoreKind::lac;
    const std::size_t room = alone ? pixels : thresholds_.size();
    std::vector<float>& scores = thread_buffer<float, struct AdaptedScores>();
    std::vector<ImageFeatures>& features = thread_buffer<ImageFeatures, struct AdaptedScores>();
    if (scores.size() < room) scores.resize(room);
    if (features.size() < classes_) features.resize(classes_);
    if (!alone) score_image(score_, classes_, grid_, probs.data(), scores.data());
    const auto look_at = [&](std::size_t c) {
        features[c] = image_features(probs.subspan(c * pixels, pixels));
    };
    const bool pooled = adapted_.front() != nullptr && adapted_.front() == adapted_.back();
    for (std::size_t c = 0; c < classes_ && pooled; ++c) look_at(c);
    for (std::size_t c = 0; c < classes_; ++c) {
        const Adapted* const adapted = adapted_[c].get();
        const float* const own = scores.data() + (alone ? 0 : c * pixels);
        std::uint8_t* const out = sets.data() + c * pixels;
        if (adapted != nullptr && !pooled) look_at(c);
        if (alone && (adapted != nullptr || !on_probabilities()))
            score_image(score_, 1, grid_, probs.data() + c * pixels, scores.data());
        if (adapted != nullptr)
            adapted->sets(
                adapted->shift(stratum_features({features.data(), classes_}, pooled ? 1 : classes_, c)), own,
                out);
        else if (on_probabilities())
            at_least(probs.data() + c * pixels, thresholds_.data() + c * pixels, pixels, out);
        else
            at_least(thresholds_.data() + c * pixels, own, pixels, out);
    }
}

std::uint64_t Predictor::sets(std::span<const float> probs, std::span<std::uint8_t> sets) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(sets.size(), thresholds_.size(), "sets");
    if (!adapted_.empty())
        adapted_sets(probs, sets);
    else if (on_probabilities())
        at_least(probs.data(), thresholds_.data(), sets.size(), sets.data());
    else if (score_.kind == ScoreKind::near)
        sets_by_near(classes_, grid_, probs, thresholds_, sets);
    else
        sets_by_score(score_, classes_, grid_.pixels(), probs, thresholds_, sets);
    if (empty_ == EmptySets::keep) return 0;
    return fill_empty(
        classes_, grid_.pixels(), [&](std::size_t i) { return probs[i]; }, sets);
}

std::uint64_t Predictor::packed_sets(std::span<const float> probs, std::span<std::uint8_t> bits) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(bits.size(), classes_ * grid_.height * packed_width(), "bits");
    const std::size_t width = grid_.width;
    const std::size_t rows = classes_ * grid_.height;
    if (on_probabilities() && adapted_.empty() && empty_ == EmptySets::keep) {
        for (std::size_t row = 0; row < rows; ++row)
            at_least_bits(probs.data() + row * width, thresholds_.data() + row * width, width,
                          bits.data() + row * packed_width());
        return 0;
    }
    std::vector<std::uint8_t>& plain = thread_buffer<std::uint8_t, struct PackedSets>();
    plain.resize(thresholds_.size());
    const std::uint64_t filled = sets(probs, plain);
    for (std::size_t row = 0; row < rows; ++row)
        pack_bits(plain.data() + row * width, width, bits.data() + row * packed_width());
    return filled;
}

std::optional<std::uint64_t> Predictor::half_sets(std::span<const std::uint16_t> probs,
                                                  std::span<std::uint8_t> sets) const {
    check_size(probs.size(), thresholds_.size(), "probs");
    check_size(sets.size(), thresholds_.size(), "sets");
    if (!on_probabilities() || !adapted_.empty() ||
        !halves_at_least(reinterpret_cast<const std::byte*>(probs.data()), half_thresholds_.data(),
                         sets.size(), sets.data()))
        return std::nullopt;
    if (empty_ == EmptySets::keep) return 0;
    return fill_empty(
        classes_, grid_.pixels(), [&](std::size_t i) { return half_to_float(probs[i]); }, sets);
}

Result<Predictor> try_predictor(const Calibrator& calibrator, double alpha, EmptySets empty) noexcept {
    return attempt([&] { return Predictor(calibrator, alpha, empty); });
}

void p_values(const Calibrator& calibrator, std::span<const float> probs, std::span<float> out) {
    if (calibrator.options.risk == Risk::precision)
        fail(ErrorKind::usage,
             "there are no p-values if alpha bounds the false-discovery rate: larger alphas mean larger "
             "sets; "
             "ask for sets, or calibrate with `risk recall`");
    const std::size_t pixels = calibrator.grid.pixels();
    check_size(probs.size(), calibrator.classes * pixels, "probs");
    check_size(out.size(), calibrator.classes * pixels, "out");
    score_image(calibrator.options.score, calibrator.classes, calibrator.grid, probs.data(), out.data());
    std::vector<std::int32_t>& shifts = thread_buffer<std::int32_t, struct AdaptedScores>();
    if (calibrator.adapts()) {
        std::vector<ImageFeatures>& features = thread_buffer<ImageFeatures, struct AdaptedScores>();
        features.resize(calibrator.classes);
        shifts.resize(calibrator.strata());
        for (std::size_t c = 0; c < calibrator.classes; ++c)
            features[c] = image_features(probs.subspan(c * pixels, pixels));
        shifts_of(calibrator, features, shifts);
    }
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        const bool adapted = calibrator.adaptation_of(s) != nullptr;
        if (adapted) adapt_scores(calibrator, s, shifts[s], {0, pixels}, out.data() + c * pixels);
        const SmoothCurves* const smooth = calibrator.smooth_of(s);
        for (std::size_t p = 0; p < pixels; ++p) {
            float& value = out[c * pixels + p];
            // Rounded down. The float nearest to 0.1 exceeds 0.1, so a class with the p-value 0.1 would enter
            // the set at alpha = 0.1.
            // NaN is in no set.
            const double exact = std::isnan(value) ? 0.0
                                 : adapted         ? value_p(calibrator, s, value)
                                 : smooth != nullptr
                                     ? smooth->p_value(p, value)
                                     : calibrator.curves[s].p_value(calibrator.curve_of(s, p), value);
            value = static_cast<float>(exact);
            if (static_cast<double>(value) > exact) value = std::nextafter(value, 0.0f);
        }
    }
}

}  // namespace kandinsky
