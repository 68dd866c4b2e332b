#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <limits>

namespace KANDINSKY_API kandinsky {

/// The options of evaluate().
struct EvaluateOptions {
    double alpha = 0.1;                      ///< error level of coverage and set measures
    bool maps = true;                        ///< keep the per-pixel maps
    bool ece_maps = true;                    ///< keep those of the calibration error too, if `maps`
    EmptySets empty = EmptySets::automatic;  ///< of the sets that Evaluation::sets describes
    std::size_t bootstrap = 0;               ///< resamples of the test groups for intervals, 0 to 10000
    std::uint64_t seed = 0;                  ///< of the resamples
};

/// A 90 % bootstrap interval over the test groups (over the images if there are no groups); NaN without a
/// bootstrap.
struct Interval {
    double low = std::numeric_limits<double>::quiet_NaN();   ///< 5 % of the resamples lie below
    double high = std::numeric_limits<double>::quiet_NaN();  ///< 5 % of the resamples lie above
};

/// Measures of the sets at one level, over pixels with a label.
struct SetFigures {
    double size = 0;           ///< mean number of classes in a set
    double false_classes = 0;  ///< mean number of classes in a set that the pixel does not have
    double empty = 0;          ///< share of sets without a class
    double single = 0;         ///< share of sets of one class
    double single_right = 0;   ///< share of these that have a class of the pixel; NaN when there is none
    double full = 0;           ///< share of sets with every class
};

/// The intervals of SetFigures, each under the name of its figure.
struct SetIntervals {
    Interval size;           ///< mean set size
    Interval false_classes;  ///< mean number of wrong classes
    Interval empty;          ///< share of empty sets
    Interval single;         ///< share of sets with one class
    Interval single_right;   ///< share of these that are right
    Interval full;           ///< share of sets with every class
};

/// One tenth of the images, which are ordered by a feature.
struct FeatureTenth {
    std::uint64_t images = 0;  ///< number of images; images with an equal feature are in the same tenth
    double value = 0;          ///< mean of the feature; NaN without images
    double coverage = 0;       ///< mean of their coverages; NaN without images
};

/// How coverage at 1 - alpha varies from image to image.
struct ImageCoverage {
    /// The levels of `quantiles`.
    static constexpr std::array<double, 5> kLevels{0.05, 0.25, 0.5, 0.75, 0.95};
    std::uint64_t images = 0;           ///< images with at least one sample
    std::array<double, 5> quantiles{};  ///< over those images, at kLevels; NaN without any
    double below = 0;                   ///< share of images with coverage below 1 - alpha
    double spread = 0;                  ///< mean of |coverage - (1 - alpha)| over those images
    double far_below = 0;               ///< share of images with coverage below 0.9 - alpha
    /// Mean coverage of the tenth of the images with the largest doubt, a feature that needs no label. For
    /// all classes together, the doubt of an image is the mean over its classes.
    double hardest = std::numeric_limits<double>::quiet_NaN();
    /// [feature][tenth] the images, ordered by each feature of ImageFeatures, ascending.
    std::array<std::array<FeatureTenth, 10>, ImageFeatures::kCount> tenths{};
};

/// The region, block or set size with the lowest coverage at 1 - alpha, of those with at least kEnoughSamples
/// test samples. Ties go to the first.
struct WorstPlace {
    static constexpr std::uint64_t kEnoughSamples = 30;  ///< places with fewer samples do not count
    static constexpr std::size_t kBlocks = 4;            ///< the grid has kBlocks x kBlocks blocks

    double coverage = std::numeric_limits<double>::quiet_NaN();  ///< NaN if no place has enough samples
    std::uint64_t samples = 0;                                   ///< test samples there
    std::uint64_t place = 0;  ///< number of the region or block (row * kBlocks + column), or a set size
};

/// Confidence against accuracy in 20 bins of equal width (the last one closed).
struct Reliability {
    static constexpr std::size_t kBins = 20;                                  ///< number of bins
    std::vector<std::uint64_t> count = std::vector<std::uint64_t>(kBins, 0);  ///< pixels in the bin
    std::vector<double> confidence = std::vector<double>(kBins, 0);           ///< mean probability in the bin
    std::vector<double> accuracy = std::vector<double>(kBins, 0);  ///< share of pixels that have the class
    double ece = 0;                                                ///< expected calibration error
    double smooth_ece = 0;  ///< the same without bins (Blasiok and Nakkiran 2023), p rounded to 1/1024
    Interval ece_interval;  ///< of ece
};

/// The measures of one class, or of all pooled. CE_20: mean of |coverage - level| over Evaluation::targets.
struct StratumEvaluation {
    static constexpr std::uint64_t kEnoughSamples = WorstPlace::kEnoughSamples;  ///< for `ce_enough`
    static constexpr std::uint64_t kSomeSamples = 3;                             ///< for `place_error`

    double mean_ce = 0;        ///< mean of CE_20 over pixels with test samples; NaN when there is none
    double q05 = 0;            ///< 5 % quantile of CE_20 over these pixels
    double q95 = 0;            ///< 95 % quantile of CE_20 over these pixels
    double floor = 0;          ///< mean CE of a perfect calibrator with these test images
    std::uint64_t pixels = 0;  ///< pixels with at least one test sample
    std::uint64_t pixels_without_data = 0;             ///< pixels without a test sample
    std::uint64_t samples = 0;                         ///< test samples of all pixels
    std::vector<double> coverage;                      ///< [level] of all test samples together
    std::vector<std::vector<double>> region_coverage;  ///< [region][level]
    std::vector<std::uint64_t> region_samples;         ///< [region]
    std::vector<double> ce_map;       ///< [pixel], NaN without test sample; empty without maps
    double weighted_ce = 0;           ///< mean of CE_20 with pixels weighted by their test samples
    double ce_enough = 0;             ///< mean CE_20 over pixels with kEnoughSamples or more
    double floor_enough = 0;          ///< floor over the same pixels
    std::uint64_t pixels_enough = 0;  ///< number of these pixels
    double coverage_at_alpha = 0;     ///< coverage at 1 - alpha, all test samples together
    /// Mean of |coverage - (1 - alpha)| over pixels with kSomeSamples or more; NaN when there is none.
    double place_error = 0;
    WorstPlace worst_region;       ///< of the calibrator's regions
    WorstPlace worst_block;        ///< of equal blocks of the grid, which are the same for all methods
    ImageCoverage image_coverage;  ///< how coverage varies from image to image
    Interval mean_ce_interval;     ///< of mean_ce
    Interval coverage_interval;    ///< of coverage_at_alpha
    double mean_ce_bias = 0;       ///< how much resampling raises mean_ce; subtracted from its interval
    /// Among the pixels with another label, the share whose set contains the class. The sets are those of
    /// Evaluation::sets. Counts pairs of pixel and class if classes are pooled. NaN without such a pixel.
    double false_share = 0;
    std::vector<double> false_shares;  ///< the same at each level, before any set was filled
    Interval false_interval;           ///< of false_share
    /// False-discovery rate, which Risk::precision bounds: among a group's pixels whose set contains the
    /// class, the share without the class; 0 if no set contains it. Mean over the test groups. Sets and pairs
    /// are as for false_share.
    double false_discovery = 0;
};

/// The measures of one calibrator on test images. Coverage and coverage error are those of the sets before
/// filling, which can only increase coverage.
struct Evaluation {
    std::vector<double> targets;            ///< the levels of the coverage error
    std::vector<StratumEvaluation> strata;  ///< one per class, or one for all
    double alpha = 0.1;                     ///< of the figures that follow
    SetFigures sets;                        ///< at 1 - alpha, filled as EvaluateOptions::empty says
    SetFigures plain_sets;                  ///< at 1 - alpha before any set was filled
    std::vector<SetFigures> level_sets;     ///< at each level, before any set was filled
    std::vector<double> class_false_share;  ///< [class] as StratumEvaluation::false_share
    std::uint64_t infinite = 0;  ///< number of thresholds that are +inf at 1 - alpha, over classes and pixels
    double coverage_at_alpha = 0;             ///< of all classes together, before any set was filled
    double filled_share = 0;                  ///< share of sets that were filled; 0 where empty sets are kept
    double filled_coverage = 0;               ///< coverage of the sets after filling
    std::vector<std::uint64_t> size_samples;  ///< [size] test samples with a set of that size after filling
    std::vector<double> size_coverage;        ///< [size] coverage of these samples; NaN without any
    WorstPlace worst_size;  ///< size-stratified coverage: the set size, from 1, with the lowest coverage
    ImageCoverage image_coverage;  ///< of all classes together
    Interval coverage_interval;    ///< of coverage_at_alpha
    SetIntervals set_intervals;    ///< of `sets`, but `empty` is of `plain_sets`
    /// Only with CalibrateOptions::released: the coverage of all samples of a stratum together, at the curve
    /// points of the released code's pooled rule.
    std::vector<std::vector<double>> released_marginal;  ///< [stratum][20]
};

/// The calibration error of the probabilities, which does not depend on the calibrator.
struct ProbabilityEvaluation {
    std::vector<Reliability> classes;          ///< one per class
    std::vector<std::vector<double>> ece_map;  ///< [class][pixel], NaN: no label there; empty without maps
    Interval mean_ece_interval;                ///< of the mean over classes
};

/// The result of evaluate(): the measures of each calibrator, and those of the model.
struct EvaluationReport {
    std::uint64_t images = 0;             ///< test images
    std::uint64_t groups = 0;             ///< number of their groups
    std::size_t bootstrap = 0;            ///< resamples behind the intervals
    std::vector<Evaluation> calibrators;  ///< in the order given
    ProbabilityEvaluation probabilities;  ///< of the model itself
};

/// Evaluates several calibrators in one pass over the test images (more if memory is short). The result does
/// not depend on the order of images or the number of threads. Throws a usage error without a calibrator or
/// labels, for options out of range and for an alpha that cannot be guaranteed (RiskLevels), a data error if
/// the data do not fit or have bad values, and Interrupted when `progress` asks to stop.
[[nodiscard]] EvaluationReport evaluate(const Dataset& data,
                                        const std::vector<const Calibrator*>& calibrators,
                                        const EvaluateOptions& options = {}, Progress& progress = silent());
/// Evaluates one calibrator, which is calibrators[0] of the result.
[[nodiscard]] EvaluationReport evaluate(const Dataset& data, const Calibrator& calibrator,
                                        const EvaluateOptions& options = {}, Progress& progress = silent());

/// Quantile at a level in [0, 1] by linear interpolation (numpy's default rule) of values without NaN; NaN
/// without values.
[[nodiscard]] double quantile(std::vector<double> values, double level);

}  // namespace kandinsky
