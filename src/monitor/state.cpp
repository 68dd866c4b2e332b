#include "monitor/state.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/beta_law.hpp"
#include "core/base/fail.hpp"
#include "core/kernel/hash.hpp"
#include "io/kcal/kcal.hpp"
#include "score/shortfall.hpp"
#include "score/watched.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostKept = 2048, kMostKeptBytes = std::size_t{500} << 10;
constexpr double kRegions = 0.2;  // share of the weight that features of regions have
constexpr std::uint64_t kRankPurpose = 0x6D6F6E69746F72, kShortfallPurpose = 0x73686F7274;
constexpr std::size_t kShares = Reference::kShares.size();

/// Identifies the calibrator with its reference.
std::uint64_t identity_of(const Calibrator& calibrator, const Reference& reference) {
    const std::string text = identity_text(calibrator);
    return hash_bytes(reference.values.data(), reference.values.size() * sizeof(float),
                      hash_bytes(text.data(), text.size(), reference.blocks));
}

/// The number of calibration groups that set the thresholds of a class, in the region with the most groups.
/// If pixels are pooled, the number of groups that were not used for learning.
double groups_of(const Calibrator& calibrator, std::size_t cls) {
    if (const SmoothCurves* const smooth = calibrator.smooth_of(calibrator.stratum_of(cls)))
        return static_cast<double>(smooth->groups());
    const CurveSet& curves = calibrator.curves[calibrator.stratum_of(cls)];
    std::uint64_t most = 0;  // stays 0 if pixels are pooled
    for (std::size_t region = 0; region < curves.size(); ++region)
        most = std::max(most, curves.groups(region));
    if (most > 0) return static_cast<double>(most);
    return std::max(1.0, static_cast<double>(calibrator.groups) * (1 - calibrator.options.split));
}

/// The value that the mean loss of a calibrator from `groups` groups exceeds with probability `rest`. The
/// mean loss is random, as the calibration images are. Exact if every group has one pixel.
double loss_limit(double alpha, double groups, double rest) {
    const double missed = std::max(1e-6, alpha * (groups + 1)),
                 covered = std::max(1e-6, (1 - alpha) * (groups + 1));
    return std::clamp(beta_quantile_above(missed, covered, rest), alpha, 1 - 1e-9);
}

std::size_t course_classes(const Reference& layout) {
    return std::min(kCourseClasses, layout.classes.size());
}
}  // namespace

std::vector<double> feature_weights(const Reference& layout) {
    const std::size_t per_class = layout.per_class();
    const auto watched = static_cast<double>(layout.classes.size());
    const double regional = layout.blocks > 0 ? kRegions : 0.0;
    std::vector<double> out(layout.features(), (1 - regional) / (watched * Reference::kWhole));
    for (std::size_t f = 0; f < out.size(); ++f)
        if (f % per_class >= Reference::kWhole)
            out[f] = regional / (watched * static_cast<double>(per_class - Reference::kWhole));
    return out;
}

Monitor::State::State(const Calibrator& from, const Reference& reference, const MonitorOptions& wanted)
    : fingerprint(from.fingerprint),
      identity(identity_of(from, reference)),
      grid(from.grid),
      all_classes(from.classes),
      grouped(from.grouped),
      options(wanted),
      layout(std::make_shared<const Reference>(reference)),
      most_kept(std::min(kMostKept, kMostKeptBytes / (sizeof(float) * layout->features()))),
      outputs_course(3 + course_classes(*layout) * Reference::kWhole, 2),
      labels_course(3 * std::min(kCourseCoverage, from.classes), 0) {
    if (!(options.delta > 0 && options.delta < 1))
        fail(ErrorKind::usage, "`delta` is {}, but must lie between 0 and 1", options.delta);
    if (!(options.alpha > 0 && options.alpha < 1))
        fail(ErrorKind::usage, "`alpha` is {}, but must lie between 0 and 1 to watch a stream",
             options.alpha);
    if (reference.units == 0 || reference.values.size() != reference.features() * reference.units ||
        reference.classes.empty() || reference.classes.back() >= from.classes)
        fail(ErrorKind::usage,
             "the reference does not belong to the calibrator; calibrate again to make a matching one");
    predictor = std::make_shared<const Predictor>(from, options.alpha);
    most_kept = std::max(most_kept, layout->units + 1);
    weights = feature_weights(*layout);
    for (std::size_t f = 0; f < weights.size(); ++f) {
        const auto first = layout->values.begin() + static_cast<std::ptrdiff_t>(f * layout->units);
        std::vector<float> values(first, first + static_cast<std::ptrdiff_t>(layout->units));
        const double median = values[values.size() / 2];
        features.push_back({RankBag(std::move(values)), {}, 0.5, median});
    }
    const std::vector<std::uint32_t> labelled = labelled_classes(*layout, from.classes);
    classes.assign(labelled.begin(), labelled.end());
    if (!layout->labelled.empty() &&
        (layout->labelled != labelled || layout->shortfalls.size() != classes.size() * kShares))
        fail(ErrorKind::usage,
             "the reference does not belong to the calibrator; calibrate again to make a matching one");
    // Half of delta is for the comparison of odds with those at calibration. A quarter is for the randomness
    // of the calibration images, and a quarter for that of the stream.
    for (const std::size_t c : classes)
        losses.push_back({loss_limit(options.alpha, groups_of(from, c),
                                     options.delta / (4 * static_cast<double>(classes.size()))),
                          {},
                          {}});
    for (const std::vector<float>& own : layout->shortfalls)
        shortfalls.push_back(
            {RankBag(own), {}, own.empty() ? 0.0 : static_cast<double>(own[own.size() / 2])});
}

double Monitor::State::evidence(std::size_t feature) const {
    return features[feature].bets.log_value + std::log(weights[feature]);
}

double Monitor::State::loss_evidence(std::size_t cls) const {
    return losses[cls].bets.log_value - std::log(4 * static_cast<double>(classes.size()));
}

std::pair<double, std::size_t> Monitor::State::odds_evidence(std::size_t cls) const {
    std::size_t most = 0;
    for (std::size_t k = 1; k < kShares; ++k)
        if (shortfalls[cls * kShares + k].bets.log_value > shortfalls[cls * kShares + most].bets.log_value)
            most = k;
    return {shortfalls[cls * kShares + most].bets.log_value -
                std::log(2 * static_cast<double>(shortfalls.size())),
            most};
}

void Monitor::State::judge_outputs() {
    if (!open.open) return;
    const double wanted = -std::log(options.delta);
    ++units;
    std::size_t leading = 0;
    std::vector<float> row{0, 0, std::numeric_limits<float>::quiet_NaN()};
    for (std::size_t f = 0; f < features.size(); ++f) {
        FeatureState& own = features[f];
        const float value = watched_value(open.sums[f], static_cast<std::int64_t>(open.images));
        const double p = own.bag.rank_and_keep(
            value, Random(fingerprint[0], kRankPurpose, units * features.size() + f), most_kept);
        own.bets.bet(p);
        own.late_p += kLate * (p - own.late_p);
        own.late_value += kLate * (static_cast<double>(value) - own.late_value);
        if (evidence(f) > evidence(leading)) leading = f;
        const std::size_t cls = f / layout->per_class(), number = f % layout->per_class();
        if (cls < course_classes(*layout) && number < Reference::kWhole) row.push_back(value);
    }
    if (!outputs && evidence(leading) >= wanted) outputs = Alarm{units, leading};
    row[0] = static_cast<float>(evidence(leading) / std::log(10.0));
    row[1] = static_cast<float>(leading);
    if (open_sets > 0) {
        const double size = open_set_sizes / static_cast<double>(open_sets);
        row[2] = static_cast<float>(size);
        late_set_size = std::isnan(late_set_size) ? size : late_set_size + 4 * kLate * (size - late_set_size);
    }
    outputs_course.add(row);
    judged.add(mix(static_cast<std::uint64_t>(open.id)));
    open.open = false;
    open_set_sizes = 0, open_sets = 0;
}

void Monitor::State::judge_labels() {
    if (!open_labels.open) return;
    open_labels.open = false;
    judged_labels.add(mix(static_cast<std::uint64_t>(open_labels.id)));
    std::vector<float> row(labels_course.columns(), std::numeric_limits<float>::quiet_NaN());
    bool any = false;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const std::int64_t missed = open_labels.sums[i], pixels = open_labels.sums[classes.size() + i];
        if (pixels == 0) continue;
        any = true;
        const double loss = static_cast<double>(missed) / static_cast<double>(pixels);
        losses[i].bets.bet(loss, losses[i].limit);
        losses[i].bounds.add(loss, options.delta);
        if (3 * i + 2 >= row.size()) continue;
        row[3 * i] = static_cast<float>(1 - loss);
        row[3 * i + 1] = static_cast<float>(1 - losses[i].bounds.high);
        row[3 * i + 2] = static_cast<float>(1 - losses[i].bounds.low);
    }
    if (!any) return;
    ++labelled_units;
    labels_course.add(row);
    if (!shortfalls.empty()) judge_shortfalls();
    for (std::size_t i = 0; i < classes.size(); ++i)
        if (!labels && loss_evidence(i) >= -std::log(options.delta)) labels = Alarm{labelled_units, i};
}

void Monitor::State::judge_shortfalls() {
    const std::size_t most = most_shortfalls(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const std::int64_t* const own = open_labels.sums.data() + 2 * classes.size();
        if (own[i] == 0) continue;
        for (std::size_t k = 0; k < kShares; ++k) {
            const std::size_t place = i * kShares + k;
            ShortfallState& state = shortfalls[place];
            const float value = watched_value(own[classes.size() + place], own[i]);
            state.bets.bet(state.bag.rank_and_keep(
                value, Random(fingerprint[0], kShortfallPurpose, labelled_units * shortfalls.size() + place),
                most));
            state.late_value += kLate * (static_cast<double>(value) - state.late_value);
        }
        if (!odds && odds_evidence(i).first >= -std::log(options.delta)) odds = Alarm{labelled_units, i};
    }
}

}  // namespace kandinsky
