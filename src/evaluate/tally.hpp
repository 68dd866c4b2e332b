#pragma once

#include <cstdint>
#include <kandinsky/compare.hpp>
#include <vector>

#include "evaluate/set_counts.hpp"

namespace kandinsky {

/// What one calibrator did on the test images, in more detail than an Evaluation: the report shows it.
struct MethodTally {
    std::vector<std::vector<std::uint64_t>> covered;  ///< [stratum][slider level] samples that were covered
    std::vector<std::uint64_t> others;                ///< [stratum] samples without the class
    std::vector<std::vector<std::uint64_t>> wrong;    ///< [stratum][slider level] of these, covered
    std::vector<SetCounts> sets;                      ///< [slider level], none filled
    std::vector<std::uint32_t> pixel_tested;          ///< [stratum][pixel] samples
    std::vector<std::uint32_t> pixel_covered;         ///< [stratum][pixel][curve level] samples covered
    std::vector<std::uint32_t> set_sums;              ///< [pixel] summed set sizes at alpha, none filled
    std::vector<std::uint32_t> pixel_wrong;  ///< [stratum][pixel] classes wrongly held at alpha, none filled
};

struct Tally {
    std::uint64_t labels = 0;              ///< pixels with a label, over all images
    std::vector<std::uint32_t> labelled;   ///< [pixel] images with a label there
    std::vector<std::uint32_t> samples;    ///< [class][pixel] images that have the class there
    std::vector<std::uint64_t> undecided;  ///< [image] pixels whose set is not one class, first calibrator
    std::vector<std::uint64_t> kinds;      ///< [image] number of classes that its labels show
    std::vector<MethodTally> methods;      ///< in the order of the calibrators
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
