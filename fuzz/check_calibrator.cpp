#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/predictor.hpp>

#include "harness.hpp"
#include "io/kcal/kcal.hpp"

namespace kandinsky::fuzz {

namespace {

constexpr double kAlphas[] = {0, 0.01, 0.1, 0.3, 0.5, 0.9, 1};

/// Probabilities with ties, 0 and 1; the same for every call.
std::vector<float> some_probs(std::size_t count) {
    std::vector<float> probs(count);
    for (std::size_t i = 0; i < count; ++i) probs[i] = static_cast<float>(i * 7 % 17) / 16;
    return probs;
}

void check_levels(const Calibrator& calibrator) {
    const std::size_t size = calibrator.classes * calibrator.grid.pixels();
    const std::vector<float> probs = some_probs(size);
    std::vector<float> p(size), higher;
    std::vector<std::uint8_t> sets(size), larger;
    p_values(calibrator, probs, p);
    for (const float value : p) check(value >= 0 && value <= 1, "a p-value outside [0, 1]");
    for (const double alpha : kAlphas) {
        const std::vector<float> thresholds = score_thresholds(calibrator, alpha);
        for (std::size_t i = 0; i < size; ++i) {
            check(calibrator.options.released || !std::isnan(thresholds[i]), "a threshold is NaN");
            check(higher.empty() || !(thresholds[i] > higher[i]), "a threshold grows with alpha");
        }
        const Predictor predictor(calibrator, alpha, EmptySets::keep);
        check(predictor.sets(probs, sets) == 0, "sets were filled that should be kept");
        for (std::size_t i = 0; i < size; ++i) {
            check(sets[i] <= 1, "a set is neither 0 nor 1");
            check(larger.empty() || sets[i] <= larger[i], "sets are not nested");
            // Rounding decides where a p-value equals alpha, so such entries are not checked.
            const bool clear = std::abs(static_cast<double>(p[i]) - alpha) > 1e-6;
            check(calibrator.options.released || alpha == 1 || !clear || (sets[i] != 0) == (p[i] > alpha),
                  "sets and p-values disagree");
        }
        larger = sets;
        higher = thresholds;
    }
}

}  // namespace

std::string written(const std::function<void(AtomicFile&)>& save_into) {
    static const int memory = ::memfd_create("written", MFD_CLOEXEC);
    check(memory >= 0 && ::ftruncate(memory, 0) == 0 && ::lseek(memory, 0, SEEK_SET) == 0, "no memory file");
    AtomicFile file("/proc/self/fd/" + std::to_string(memory));
    save_into(file);
    file.commit();
    std::string text(static_cast<std::size_t>(::lseek(memory, 0, SEEK_END)), '\0');
    check(::pread(memory, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
          "no memory file");
    return text;
}

std::string saved(const Calibrator& calibrator) {
    return written([&](AtomicFile& file) { save(calibrator, file); });
}

void check_calibrator(const Calibrator& calibrator) {
    constexpr std::size_t kMost = 1 << 14;  // for speed; larger calibrators take the same code paths
    if (calibrator.classes * calibrator.grid.pixels() > kMost) return;
    check_levels(calibrator);
    const std::string text = describe(calibrator), bytes = saved(calibrator);
    set_input(as_bytes(bytes));
    const Calibrator again = load(kInput);
    check(describe(again) == text, "saving and loading changes the description");
    check(saved(again) == bytes, "saving and loading changes the file");
    check(score_thresholds(again, 0) == score_thresholds(calibrator, 0) || calibrator.options.released,
          "saving and loading changes a threshold");
}

}  // namespace kandinsky::fuzz
