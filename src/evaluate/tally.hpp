#pragma once

#include <cstdint>
#include <kandinsky/compare.hpp>
#include <kandinsky/evaluate.hpp>
#include <limits>
#include <vector>

namespace kandinsky {

/// part / whole; NaN if `whole` is 0.
[[nodiscard]] inline double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
}

/// Integer counts of the sets of labelled pixels.
struct SetCounts {
    std::uint64_t sets = 0;     ///< pixels with a label, each of which has a set
    std::uint64_t members = 0;  ///< classes in all sets together
    std::uint64_t wrong = 0;    ///< classes in all sets that the pixel does not have
    std::uint64_t empty = 0;    ///< sets without a class
    std::uint64_t single = 0;   ///< sets of one class
    std::uint64_t right = 0;    ///< sets of one class, the pixel's own
    std::uint64_t full = 0;     ///< sets with every class

    SetCounts& operator+=(const SetCounts& other) {
        for (auto count : {&SetCounts::sets, &SetCounts::members, &SetCounts::wrong, &SetCounts::empty,
                           &SetCounts::single, &SetCounts::right, &SetCounts::full})
            this->*count += other.*count;
        return *this;
    }

    /// The counts after `filled` empty sets got one class each. In `hits` sets this is the pixel's own class.
    [[nodiscard]] SetCounts with_filled(std::uint64_t filled, std::uint64_t hits) const {
        return {sets, members + filled, wrong + filled - hits, empty - filled, single + filled, right + hits,
                full};
    }

    [[nodiscard]] SetFigures figures() const {
        return {.size = share_of(members, sets),
                .false_classes = share_of(wrong, sets),
                .empty = share_of(empty, sets),
                .single = share_of(single, sets),
                .single_right = share_of(right, single),
                .full = share_of(full, sets)};
    }
};

/// Counts of one calibrator on the test images that the report needs beyond an Evaluation.
struct MethodTally {
    std::vector<std::vector<std::uint64_t>> covered;  ///< [stratum][slider level] samples that were covered
    std::vector<std::uint64_t> others;  ///< [stratum] pairs of labelled pixel and class that the pixel lacks
    /// [stratum][slider level] pairs of `others` whose set contains the class.
    std::vector<std::vector<std::uint64_t>> wrong;
    std::vector<SetCounts> sets;               ///< [slider level] before filling
    std::vector<std::uint32_t> pixel_tested;   ///< [stratum][pixel] samples
    std::vector<std::uint32_t> pixel_covered;  ///< [stratum][pixel][curve level] samples covered
    std::vector<std::uint32_t> set_sums;       ///< [pixel] summed set sizes at alpha before filling
    std::vector<std::uint32_t> pixel_wrong;    ///< [stratum][pixel] wrong classes at alpha before filling
};

struct Tally {
    std::uint64_t labels = 0;             ///< pixels with a label, over all images
    std::vector<std::uint32_t> labelled;  ///< [pixel] images with a label there
    std::vector<std::uint32_t> samples;   ///< [class][pixel] images that have the class there
    /// [image] labelled pixels whose set does not have exactly one class before filling (first calibrator).
    std::vector<std::uint64_t> undecided;
    std::vector<std::uint64_t> kinds;  ///< [image] number of classes among its labels
    std::vector<MethodTally> methods;  ///< in the order of the calibrators
};

/// evaluate() and the tally of the same calibrators, in one visit of the images.
struct Examination {
    EvaluationReport evaluation;
    Tally tally;
};
[[nodiscard]] Examination examine(const Dataset& data, const std::vector<const Calibrator*>& calibrators,
                                  const EvaluateOptions& options = {}, Progress& progress = silent());

/// compare() and the tally of its last draw.
struct ExaminedComparison {
    Comparison comparison;
    Tally tally;
};
[[nodiscard]] ExaminedComparison compare_closely(const Dataset& calibration, const Dataset& test,
                                                 const CompareOptions& options,
                                                 Progress& progress = silent());

}  // namespace kandinsky
