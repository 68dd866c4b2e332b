#pragma once

#include <array>
#include <kandinsky/adaptation.hpp>
#include <kandinsky/choice.hpp>
#include <kandinsky/dataset.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/methods.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/risk.hpp>
#include <kandinsky/score.hpp>
#include <kandinsky/smooth_curves.hpp>
#include <kandinsky/weights.hpp>

namespace KANDINSKY_API kandinsky {

/// Which curve a region with too few scores uses.
enum class Fallback {
    none,       ///< its own curve; if it has no score at all, the class is always in the set
    image,      ///< the class's image-wide curve
    automatic,  ///< `image` with Pooling::pixels, which has no guarantee; else `none`
};

/// Which groups learn (regions, distributions, how pixels share scores), and which set the thresholds. Has no
/// effect on methods that learn nothing.
enum class Promise {
    none,           ///< all groups do both: no guarantee
    split,          ///< a share of the groups learns, the others set the thresholds: guarantee of 1 - alpha
    leave_one_out,  ///< all groups do both, and learning is repeated without each group: guarantee of 1 -
                    ///< alpha
    automatic,      ///< `none` where pixels are pooled; else `leave_one_out` up to 200 groups for methods
                    ///< that find no regions and up to 20 for the others; else `split`
};

/// The options of calibrate().
struct CalibrateOptions {
    MethodChoice method{};                              ///< which pixels share a curve
    std::vector<double> quantiles{0.6, 0.7, 0.8, 0.9};  ///< where curves are compared
    Condition condition = Condition::by_class;          ///< which labels share a curve
    Pooling pooling = Pooling::groups;                  ///< what counts as one observation
    Fallback fallback = Fallback::automatic;            ///< what regions with too few scores do
    std::uint64_t min_count = 1;                        ///< fewer scores than this count as too few
    ScoreOptions score = default_score();               ///< the non-conformity score
    /// Rungs of long curves, 2 to 100000; 0: 2000, or 200 with more than 1024 curves.
    std::size_t rungs = 0;
    /// Reproduce the authors' released code, with paper_settings(). Scores other than lac and the default are
    /// refused.
    bool released = false;
    /// Which groups learn and which set the thresholds. A number above 0 in `split` selects Promise::split;
    /// with Promise::leave_one_out it is refused.
    Promise promise = Promise::automatic;
    /// What the levels depend on. Adapt::image needs Pooling::groups and a method other than kAutoMethod.
    Adapt adapt = Adapt::none;
    /// Share of the groups that learns with Promise::split, below 1; the other groups set the thresholds. 0
    /// means one quarter with `confidence`, else one half. If Promise::automatic selects Promise::split for
    /// more than 200 groups, 0 means that 100 groups set the thresholds; if groups have weights, more groups
    /// do, at most three quarters.
    double split = 0;
    std::uint64_t seed = 0;                     ///< of all random numbers
    std::size_t memory = std::size_t{1} << 30;  ///< bytes of scores to hold at a time
    /// Largest amount by which a threshold may exceed the exact one, for calibration in one pass
    /// (sketch.hpp); 0: exact.
    double sketch = 0;
    /// The guarantee holds in at least this share of the draws of the calibration groups, such as 0.95. 0: it
    /// holds on average over the draws. Needs Pooling::groups; learning then uses Promise::split.
    double confidence = 0;
    Risk risk = Risk::recall;  ///< what alpha bounds; risks other than recall need `confidence`
    /// The weights of the groups; needs Pooling::groups.
    GroupWeights weights{};
};

/// The options with the paper's settings: the score lac, Pooling::pixels, no fallback, and the paper's
/// options of every method. Method options that are already set are kept.
[[nodiscard]] CalibrateOptions paper_settings(CalibrateOptions options = {});

/// The curve that a pixel uses.
enum class CurveLevel : std::uint8_t {
    region = 0,  ///< the curve of its region
    image = 1,   ///< the image-wide curve, because the region has too few scores
    none = 2,    ///< no curve, because there is no score: the class is in every set
};

/// The images with which recalibrate() set the levels of a calibrator.
struct Renewal {
    std::uint64_t images = 0;                    ///< number of images
    std::uint64_t groups = 0;                    ///< number of groups; 0: recalibrate() was not used
    bool grouped = false;                        ///< groups were given
    std::array<std::uint64_t, 2> fingerprint{};  ///< of these images

    [[nodiscard]] bool none() const { return groups == 0; }  ///< levels are those of the calibration
};

/// The result of calibration: which pixels share a curve, and the curves. Const use is thread-safe.
struct Calibrator {
    CalibrateOptions options;                    ///< of the calibration
    Grid grid;                                   ///< of all images
    std::size_t classes = 0;                     ///< number of classes
    std::uint64_t images = 0;                    ///< number of calibration images
    std::uint64_t groups = 0;                    ///< number of calibration groups
    bool grouped = false;                        ///< groups were given
    std::array<std::uint64_t, 2> fingerprint{};  ///< of the calibration images, whatever their order
    std::string version;                         ///< of the library that made it
    double sketch_error = 0;                     ///< thresholds exceed the exact ones by at most this
    bool masks = false;                          ///< the labels were masks: a pixel may have several classes
    bool classless = false;                      ///< masks gave some calibration pixels no class
    Logits logits = Logits::none;                ///< how outputs became probabilities
    std::vector<std::int64_t> ignore{255};       ///< labels that belonged to no class
    bool reading_known = true;                   ///< false: `logits` and `ignore` are unknown (files of 0.1)
    std::string input;  ///< how the images were read from files, as JSON; empty for arrays

    std::vector<Partition> partitions;  ///< one per stratum
    /// One set per stratum: a curve for each region, then the image-wide curve if there is a fallback. No
    /// curves for a stratum with smooth curves.
    std::vector<CurveSet> curves;
    /// No entries, or one per stratum: the curves of a soft method, or of regions whose levels follow the
    /// image; empty() for other strata.
    std::vector<SmoothCurves> smooth;
    std::vector<std::uint32_t> counts;      ///< [stratum][pixel] number of calibration scores
    std::vector<CurveLevel> levels;         ///< [stratum][pixel] which curve the pixel uses
    std::vector<Choice> choices;            ///< one per stratum if cross-validation chose; else no entries
    std::vector<Adaptation> adaptations{};  ///< one per stratum if levels follow images; else no entries
    std::vector<RiskLevels> risks{};        ///< one per stratum if precision is guaranteed; else no entries
    Weighting weighting{};                  ///< of the groups that set the thresholds
    Renewal renewal{};                      ///< of recalibrate(), if it was used

    /// Number of strata: one for each class, or one for all where classes were pooled.
    [[nodiscard]] std::size_t strata() const { return partitions.size(); }
    /// The stratum of a class.
    [[nodiscard]] std::size_t stratum_of(std::size_t c) const { return strata() == 1 ? 0 : c; }
    /// The method that a stratum's curves come from: the requested method, or the chosen one if
    /// cross-validation chose.
    [[nodiscard]] const std::string& method_of(std::size_t stratum) const {
        return choices.empty() ? options.method.name : choices[stratum].method;
    }
    /// The smooth curves of a stratum; null if it has none.
    [[nodiscard]] const SmoothCurves* smooth_of(std::size_t stratum) const {
        return stratum < smooth.size() && !smooth[stratum].empty() ? &smooth[stratum] : nullptr;
    }
    /// How the levels of a stratum follow the image; null where all images have one level.
    [[nodiscard]] const Adaptation* adaptation_of(std::size_t stratum) const {
        return stratum < adaptations.size() && !adaptations[stratum].empty() ? &adaptations[stratum]
                                                                             : nullptr;
    }
    /// Whether some stratum's levels follow the image.
    [[nodiscard]] bool adapts() const;
    /// The number of the curve that a pixel of a stratum uses, within curves[stratum]. Not for strata with
    /// smooth curves.
    [[nodiscard]] std::size_t curve_of(std::size_t stratum, std::size_t pixel) const {
        return levels[stratum * grid.pixels() + pixel] == CurveLevel::image
                   ? partitions[stratum].regions
                   : partitions[stratum].region[pixel];
    }
};

/// Calibrates. The result depends on the multiset of images and the options, not on the order of images or
/// the number of threads. Cost: a few passes over the data, and with Promise::leave_one_out one fit per
/// group; holds about `options.memory` bytes besides the result. Throws a usage error for options out of
/// range or data without labels, a data error for bad values (NaN, outside [0, 1], unknown labels), and
/// Interrupted when `progress` asks to stop.
[[nodiscard]] Calibrator calibrate(const Dataset& data, const CalibrateOptions& options,
                                   Progress& progress = silent());

/// One of several calibrators that were made together.
struct TimedCalibrator {
    Calibrator calibrator;  ///< as calibrate() makes it
    double seconds = 0;     ///< duration of its calibration; the time of shared work is divided evenly
};
/// One calibrator for each of several options, in the same order. Options with the same score, promise and
/// split share the reading and sorting of the data; they must also agree in condition, quantiles, pooling,
/// rungs and `released`. All options must have the same weights. Throws a usage error otherwise, and as
/// calibrate(). If there are several options, those with kAutoMethod are calibrated with Adapt::none.
[[nodiscard]] std::vector<TimedCalibrator> calibrate_all(const Dataset& data,
                                                         const std::vector<CalibrateOptions>& options,
                                                         Progress& progress = silent());

/// A calibrator with the same curves, and with levels set by other labelled images. The guarantee then
/// depends on these images alone, whatever images the curves come from. Needs Pooling::groups. Throws a data
/// error if the images do not fit the calibrator or are those of the calibration, and a usage error without
/// labels, without groups if the calibration had groups, and for calibrators with a confidence.
[[nodiscard]] Calibrator recalibrate(const Calibrator& calibrator, const Dataset& data,
                                     Progress& progress = silent());

/// The rule for sets without a class.
enum class EmptySets {
    keep,  ///< an empty set stays empty
    fill,  ///< the most probable class is added; of equally probable classes, that with the lowest number
    automatic,  ///< `fill`; `keep` if some calibration pixels had no class, or if precision is guaranteed
};

/// Score thresholds [class][pixel] at 1 - alpha: a class is in the set if its score is at most the threshold.
/// If levels follow the image, the thresholds are those of an image with shift 0. Throws a usage error if
/// alpha is not in [0, 1] or cannot be guaranteed (RiskLevels).
[[nodiscard]] std::vector<float> score_thresholds(const Calibrator& calibrator, double alpha);

/// Probability thresholds [class][pixel]: a class is in the set if and only if p >= threshold. -inf: always
/// in the set. Throws as score_thresholds(), and for scores other than lac or if levels follow the image.
[[nodiscard]] std::vector<float> thresholds(const Calibrator& calibrator, double alpha);

/// The guarantee of the calibrator and its assumptions, as text. Some guarantees take several sentences.
[[nodiscard]] std::string guarantee(const Calibrator& calibrator);

/// Throws a usage error unless 0 <= alpha <= 1.
void check_alpha(double alpha);
/// Throws a data error unless the data have the calibrator's grid and classes.
void check_fits(const Calibrator& calibrator, const Dataset& data);

[[nodiscard]] std::string_view name_of(EmptySets empty);       ///< the option's word
[[nodiscard]] EmptySets empty_sets_of(std::string_view name);  ///< throws a usage error for an unknown name
[[nodiscard]] std::string_view name_of(Promise promise);       ///< the option's word
[[nodiscard]] Promise promise_of(std::string_view name);       ///< throws a usage error for an unknown name
[[nodiscard]] std::string_view name_of(Fallback fallback);     ///< the option's word
[[nodiscard]] Fallback fallback_of(std::string_view name);     ///< throws a usage error for an unknown name

}  // namespace kandinsky
