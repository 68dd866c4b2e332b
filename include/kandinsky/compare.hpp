#pragma once

#include <kandinsky/evaluate.hpp>
#include <kandinsky/export.hpp>

namespace KANDINSKY_API kandinsky {

/// The options of compare().
struct CompareOptions {
    /// "METHOD", or "METHOD:SCORE" for a score of its own; empty: every method that needs no array.
    std::vector<std::string> methods;
    CalibrateOptions calibrate;  ///< all other options of calibration, shared by the methods
    double alpha = 0.1;          ///< error level of coverage and set measures
    /// Size of random calibration subsets, in groups (in images if there are no groups); 0: all.
    std::size_t sample = 0;
    std::size_t draws = 1;                   ///< number of such subsets; more than 1 need `sample`
    EmptySets empty = EmptySets::automatic;  ///< of the sets that are judged
    std::size_t bootstrap = 0;  ///< resamples of the test groups for intervals, with one draw only
    /// Further methods to calibrate on the last draw without evaluating them; the report shows their curves.
    /// They never fall back to another curve.
    std::vector<std::string> references;
};

/// One line of the paper's table: a method and a class (or all classes pooled). Means and shares are averaged
/// over the draws; counts are those of the last draw.
struct CompareRow {
    std::string method;                     ///< its name, as in CompareOptions::methods
    int cls = -1;                           ///< -1: classes were pooled
    std::uint64_t regions = 0;              ///< number of regions
    double mean_ce = 0;                     ///< mean of CE_20 over pixels with test samples
    double q05 = 0;                         ///< 5 % quantile of CE_20 over these pixels
    double q95 = 0;                         ///< 95 % quantile of CE_20 over these pixels
    double floor = 0;                       ///< mean CE that a perfect calibrator would have
    double false_share = 0;                 ///< as StratumEvaluation::false_share
    double false_discovery = 0;             ///< as StratumEvaluation::false_discovery
    SetFigures sets;                        ///< as Evaluation::sets
    double empty_share = 0;                 ///< share of empty sets before any was filled
    double ece = 0;                         ///< expected calibration error of the probabilities
    double mean_ce_sd = 0;                  ///< standard deviation of mean_ce over the draws; 0 with one draw
    double weighted_ce = 0;                 ///< as StratumEvaluation::weighted_ce
    double ce_enough = 0;                   ///< as StratumEvaluation::ce_enough
    double floor_enough = 0;                ///< as StratumEvaluation::floor_enough
    double coverage_at_alpha = 0;           ///< as StratumEvaluation::coverage_at_alpha
    double place_error = 0;                 ///< as StratumEvaluation::place_error
    double worst_region = 0;                ///< coverage in the worst region
    double worst_block = 0;                 ///< coverage in the worst block of the grid
    double worst_size = 0;                  ///< coverage of the worst set size
    double images_below = 0;                ///< as ImageCoverage::below
    double filled_share = 0;                ///< as Evaluation::filled_share
    double smooth_ece = 0;                  ///< as Reliability::smooth_ece
    std::uint64_t pixels_enough = 0;        ///< as StratumEvaluation::pixels_enough
    std::uint64_t pixels = 0;               ///< pixels with at least one test sample
    std::uint64_t pixels_without_data = 0;  ///< pixels without a test sample
    std::vector<double> coverage;           ///< [level] of all test samples together
    std::vector<double> draws;              ///< [draw] mean CE
    double fit_seconds = 0;                 ///< duration of the calibration
    double evaluate_seconds = 0;            ///< duration of the evaluation
    std::vector<std::vector<double>> region_coverage;  ///< [region][level], of the last draw
    std::vector<std::uint64_t> region_samples;         ///< [region] test samples, of the last draw
};

/// What compare() found.
struct Comparison {
    Grid grid;                             ///< of all images
    std::uint64_t cal_images = 0;          ///< calibration images of the last draw
    std::uint64_t test_images = 0;         ///< test images
    std::uint64_t cal_groups = 0;          ///< calibration groups of the last draw
    std::size_t sample = 0;                ///< groups of each draw; 0: all
    std::size_t draws = 1;                 ///< number of random subsets
    bool grouped = false;                  ///< groups were given
    double alpha = 0.1;                    ///< error level of coverage and set measures
    std::vector<double> targets;           ///< the levels of the coverage error
    std::vector<CompareRow> rows;          ///< by class, then by method
    std::vector<Calibrator> calibrators;   ///< of the last draw, one per method
    std::vector<Calibrator> references;    ///< of the last draw, those of CompareOptions::references
    EvaluationReport last;                 ///< of the last draw
    std::vector<Reliability> reliability;  ///< per class
};

/// Calibrates with every method on one data set and evaluates all of them on another. Except for durations,
/// the result does not depend on the order of images or the number of threads. Throws a data error if grids
/// or classes differ, a usage error for options that exclude each other or a method that is named twice, and
/// as calibrate_all() and evaluate().
[[nodiscard]] Comparison compare(const Dataset& calibration, const Dataset& test,
                                 const CompareOptions& options, Progress& progress = silent());

/// The methods that compare() uses by default.
[[nodiscard]] std::vector<std::string> default_methods();

}  // namespace kandinsky
