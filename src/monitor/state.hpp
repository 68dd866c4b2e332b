#pragma once

#include <kandinsky/monitor.hpp>
#include <kandinsky/predictor.hpp>
#include <kandinsky/reference.hpp>
#include <limits>

#include "monitor/bets.hpp"
#include "monitor/mean_bounds.hpp"
#include "monitor/rank_bag.hpp"
#include "monitor/recent_keys.hpp"
#include "monitor/thinned_curve.hpp"

namespace kandinsky {

/// The state of one watched feature.
struct FeatureState {
    RankBag bag;
    Bets bets;
    double late_p = 0.5, late_value = 0;  ///< recent means
};

/// The state of one class from labels.
struct LossState {
    double limit = 0;  ///< an alarm means that the mean loss exceeds this
    LossBets bets;
    MeanBounds bounds;
};

/// The state of one class's shortfall at one share.
struct ShortfallState {
    RankBag bag;
    RiseBets bets;
    double late_value = 0;  ///< recent mean
};

/// A group that may get more images.
struct OpenGroup {
    bool open = false;
    std::int64_t id = 0;
    std::uint64_t images = 0;
    std::vector<std::int64_t> sums;  ///< [feature], or in the layout of ImageLook::labels

    void begin(std::int64_t number, std::size_t numbers) {
        open = true, id = number, images = 0;
        sums.assign(numbers, 0);
    }
};

/// The weights of the features' evidence. They add up to 1, so the probability of a false alarm for outputs
/// is at most delta for any dependence between features. Features of regions have 0.2 of the weight, if there
/// are any; features of the whole image have the rest.
[[nodiscard]] std::vector<double> feature_weights(const Reference& layout);

struct Monitor::State {
    State(const Calibrator& from, const Reference& reference, const MonitorOptions& wanted);

    std::array<std::uint64_t, 2> fingerprint;  ///< of the calibration images
    std::uint64_t identity;                    ///< of the calibrator
    Grid grid;
    std::size_t all_classes;
    bool grouped;
    MonitorOptions options;
    std::shared_ptr<const Predictor> predictor;
    std::shared_ptr<const Reference> layout;
    std::size_t most_kept;             ///< largest number of values in a bag
    std::vector<std::size_t> classes;  ///< classes whose labels are tested
    std::vector<double> weights;       ///< [feature], they add up to 1

    std::uint64_t images = 0, units = 0, labelled_units = 0;
    double late_set_size = std::numeric_limits<double>::quiet_NaN();
    std::vector<FeatureState> features;
    std::vector<LossState> losses;  ///< [index into `classes`]
    /// [index into `classes`][index into Reference::kShares]; none if the reference has no shortfalls.
    std::vector<ShortfallState> shortfalls;
    OpenGroup open, open_labels;
    double open_set_sizes = 0;    ///< sum of the open group's set sizes
    std::uint64_t open_sets = 0;  ///< number of its images with a set size
    /// Keys of outputs, of outputs with labels, of groups with judged outputs, of groups with judged labels.
    RecentKeys seen, seen_labels, judged, judged_labels;
    std::optional<Alarm> outputs, labels, odds;
    ThinnedCurve outputs_course, labels_course;

    /// Natural logarithm of the weighted martingale. Below, `cls` is an index into `classes`.
    [[nodiscard]] double evidence(std::size_t feature) const;
    [[nodiscard]] double loss_evidence(std::size_t cls) const;
    /// The evidence of lower odds for a class, and the index of the share with the most evidence.
    [[nodiscard]] std::pair<double, std::size_t> odds_evidence(std::size_t cls) const;
    /// Tests the open group, if there is one, and closes it. The group of outputs and that of labels are
    /// independent.
    void judge_outputs();
    void judge_labels();

  private:
    void judge_shortfalls();
};

/// The largest numbers of classes whose outputs, and whose coverage, are stored over time.
inline constexpr std::size_t kCourseClasses = 4, kCourseCoverage = 8;
/// Without labels, sets are measured in about one of this many images. The hash of the features decides.
inline constexpr std::uint64_t kSetEvery = 64;
/// The weight of the latest unit in recent means. Set sizes are measured less often and have 4 times this
/// weight.
inline constexpr double kLate = 0.05;

}  // namespace kandinsky
