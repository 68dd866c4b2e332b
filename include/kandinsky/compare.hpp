#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/evaluate.hpp>
#include <string>
#include <vector>

namespace kandinsky {

/// The options that comparisons start from: pixels pooled alike, as in the paper.
[[nodiscard]] inline CalibrateOptions paper_options() {
    CalibrateOptions options;
    options.pooling = Pooling::pixels;
    return options;
}

struct CompareOptions {
    std::vector<std::string> methods;              ///< empty: every method that needs no array of its own
    CalibrateOptions calibrate = paper_options();  ///< the rest of the options, shared by all methods
    double alpha = 0.1;
    std::size_t sample =
        0;  ///< calibrate on random subsets of that many groups (images without groups); 0: on all
    std::size_t draws = 1;              ///< number of such subsets
    EmptySets empty = EmptySets::keep;  ///< fill: the figures at alpha are those of the filled sets
    std::size_t bootstrap = 0;          ///< resamples of the test groups for intervals, with one draw only
    /// Methods to calibrate on the last draw without judging them, where they are not among the methods:
    /// their curves are for a closer look. They never fall back to another curve.
    std::vector<std::string> references;
};

/// One line of the paper's table: a method and a class (or all classes pooled), averaged over the draws.
struct CompareRow {
    std::string method;
    int cls = -1;  ///< -1: classes were pooled
    std::uint64_t regions = 0;
    double mean_ce = 0, q05 = 0, q95 = 0, floor = 0, set_size = 0, empty_share = 0, ece = 0;
    double mean_ce_sd = 0;  ///< over the draws; 0 for one
    // As in StratumEvaluation, Evaluation and Reliability; of places and sizes the coverage of the worst.
    double weighted_ce = 0, ce_enough = 0, floor_enough = 0, coverage_at_alpha = 0, worst_region = 0,
           worst_block = 0, worst_size = 0, images_below = 0, filled_share = 0, smooth_ece = 0;
    std::uint64_t pixels_enough = 0;
    std::uint64_t pixels = 0, pixels_without_data = 0;
    std::vector<double> coverage;
    std::vector<double> draws;  ///< mean CE of each
    double fit_seconds = 0, evaluate_seconds = 0;
    // Only for the last draw, for closer looks.
    std::vector<std::vector<double>> region_coverage;
    std::vector<std::uint64_t> region_samples;
};

/// The line of one stratum of a calibrator, without times.
[[nodiscard]] CompareRow compare_row(const Calibrator& calibrator, const Evaluation& evaluation,
                                     const ProbabilityEvaluation& probabilities, std::size_t stratum);

struct Comparison {
    Grid grid;
    std::uint64_t cal_images = 0, test_images = 0;
    std::uint64_t cal_groups = 0;
    std::size_t sample = 0, draws = 1;
    bool grouped = false;
    double alpha = 0.1;
    std::vector<double> targets;
    std::vector<CompareRow> rows;          ///< by class, then by method
    std::vector<Calibrator> calibrators;   ///< of the last draw, one per method
    std::vector<Calibrator> references;    ///< of the last draw, those of CompareOptions::references
    EvaluationReport last;                 ///< of the last draw
    std::vector<Reliability> reliability;  ///< per class
};

/// Calibrates with every method on one data set and judges all on another.
[[nodiscard]] Comparison compare(const Dataset& calibration, const Dataset& test,
                                 const CompareOptions& options, Progress& progress = silent());

/// The methods that compare() uses by default.
[[nodiscard]] std::vector<std::string> default_methods();

}  // namespace kandinsky
