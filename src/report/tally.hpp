#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <vector>

namespace kandinsky {

/// The report's slider stands at the levels 0.01, 0.02, ..., 0.99; every fifth is one of CE_20.
inline constexpr std::size_t kSliderLevels = 99;
inline constexpr std::size_t kCurveLevels = 19;  ///< 0.05, 0.10, ..., 0.95: per-pixel curves

[[nodiscard]] std::vector<double> slider_alphas();  ///< 1 - level, descending
[[nodiscard]] std::vector<double> curve_alphas();   ///< the same for the per-pixel curves

/// What one calibrator did on the test images, closer than an Evaluation looks.
struct MethodTally {
    std::vector<std::vector<std::uint64_t>> covered;  ///< [stratum][slider level] samples that were covered
    std::vector<std::uint64_t> members;               ///< [slider level] classes in all sets together
    std::vector<std::uint64_t> empty;                 ///< [slider level] empty sets
    std::vector<std::uint32_t> first;     ///< [stratum][pixel][kCurveLevels + 1]: samples that a level is the
                                          ///< first to cover; the last are covered by none
    std::vector<std::uint32_t> set_sums;  ///< [pixel] summed set sizes at alpha
};

struct Tally {
    std::uint64_t labels = 0;             ///< pixels with a label, over all images
    std::vector<std::uint32_t> labelled;  ///< [pixel] images with a label there
    std::vector<std::uint32_t> samples;   ///< [class][pixel] images that have the class there
    std::vector<std::uint64_t>
        undecided;                     ///< [image] pixels whose set has not exactly one class, first method
    std::vector<std::uint64_t> kinds;  ///< [image] number of classes that its labels show
    std::vector<MethodTally> methods;
};

/// One walk over the test images for all calibrators. Integers only, so the same for any number of threads.
/// The calibrators must fit the data and share their score, as for evaluate().
[[nodiscard]] Tally tally(const Dataset& test, const std::vector<const Calibrator*>& calibrators,
                          double alpha, Progress& progress);

}  // namespace kandinsky
