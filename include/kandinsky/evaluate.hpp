#pragma once

#include <cstdint>
#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky {

struct EvaluateOptions {
    double alpha = 0.1;  ///< for set size and empty sets
    bool maps = true;    ///< keep the per-pixel maps
};

/// Confidence against accuracy in 20 bins of equal width (the last one closed).
struct Reliability {
    static constexpr std::size_t kBins = 20;
    std::vector<std::uint64_t> count = std::vector<std::uint64_t>(kBins, 0);
    std::vector<double> confidence = std::vector<double>(kBins, 0);  ///< mean probability in the bin
    std::vector<double> accuracy = std::vector<double>(kBins, 0);    ///< share of pixels that have the class
    double ece = 0;                                                  ///< expected calibration error
};

/// How one class (or, when classes were pooled, all together) fares at the levels of the coverage error.
struct StratumEvaluation {
    double mean_ce = 0, q05 = 0, q95 = 0;  ///< of CE_20 over pixels with test samples; NaN when there is none
    double floor = 0;                      ///< what a perfect calibrator would score with these test images
    std::uint64_t pixels = 0;              ///< with at least one test sample
    std::uint64_t pixels_without_data = 0;
    std::uint64_t samples = 0;
    std::vector<double> coverage;                      ///< at each level, all test samples together
    std::vector<std::vector<double>> region_coverage;  ///< [region][level]
    std::vector<std::uint64_t> region_samples;         ///< [region]
    std::vector<double> ce_map;  ///< [pixel], NaN without test sample; empty without maps
};

/// The judgement of one calibrator on test images.
struct Evaluation {
    std::vector<double> targets;  ///< the levels of the coverage error
    std::vector<StratumEvaluation> strata;
    double alpha = 0.1;
    double set_size = 0;     ///< mean number of classes in a set at 1 - alpha, over pixels with a label
    double empty_share = 0;  ///< share of empty sets there
    std::vector<double> set_sizes, empty_shares;  ///< the same at each level
    std::uint64_t infinite = 0;  ///< thresholds that are +inf at 1 - alpha, over classes and pixels
    double coverage_at_alpha = 0;
    /// The released code's other number: coverage of all samples pooled, at its shifted levels. Only with
    /// `released`.
    std::vector<std::vector<double>> released_marginal;  ///< [stratum][20]
};

/// What does not depend on the calibrator: how honest the probabilities themselves are.
struct ProbabilityEvaluation {
    std::vector<Reliability> classes;
    std::vector<std::vector<double>>
        ece_map;  ///< [class][pixel], NaN where no image counts (all labels ignored); empty without maps
};

struct EvaluationReport {
    std::uint64_t images = 0;
    std::vector<Evaluation> calibrators;
    ProbabilityEvaluation probabilities;
};

/// Judges several calibrators in one walk over the test images. All counts are integers and all sums
/// fixed-point, so the result is the same for any order of images and any number of threads.
[[nodiscard]] EvaluationReport evaluate(const Dataset& data,
                                        const std::vector<const Calibrator*>& calibrators,
                                        const EvaluateOptions& options = {}, Progress& progress = silent());

/// E|X/n - target| for X binomial(n, level): the coverage error that n test samples cause by themselves,
/// exactly.
[[nodiscard]] double sampling_floor(std::uint64_t n, double level, double target);

/// Quantile by linear interpolation (numpy's default rule) of values without NaN; NaN when there is none.
[[nodiscard]] double quantile(std::vector<double> values, double level);

}  // namespace kandinsky
