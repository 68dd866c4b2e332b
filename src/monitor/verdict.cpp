#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "monitor/state.hpp"
#include "score/watched.hpp"

namespace kandinsky {

namespace {
/// The rows (or columns) of the i-th of `blocks` regions side by side.
PixelRange stretch(std::size_t i, std::size_t blocks, std::size_t length) {
    return {block_begin(i, blocks, length), block_begin(i + 1, blocks, length)};
}

MonitorCourse course_of(const ThinnedCurve& curve, std::uint64_t units, std::vector<std::string> columns) {
    MonitorCourse out{curve.stride(), units, std::move(columns), {}};
    const std::vector<float> values = curve.with_pending();
    for (std::size_t at = 0; at < values.size(); at += curve.columns())
        out.rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(at),
                              values.begin() + static_cast<std::ptrdiff_t>(at + curve.columns()));
    return out;
}

std::string class_name(std::size_t cls, const std::vector<std::string>& names) {
    return cls < names.size() ? names[cls] : fmt::format("class {}", cls);
}

/// Says which feature changed and how its recent values differ from the reference. The recent values may have
/// changed since the alarm.
std::string change_text(const WatchedFeature& one, const std::vector<std::string>& names) {
    const char* const way = one.direction > 0.1    ? "higher"
                            : one.direction < -0.1 ? "lower"
                                                   : "spread differently";
    const std::string place = one.regional
                                  ? fmt::format(" in rows {}-{}, columns {}-{}", one.rows.begin,
                                                one.rows.end - 1, one.columns.begin, one.columns.end - 1)
                                  : std::string();
    return fmt::format("{} of {}{} changed; recent values are {}: mean {:.2f}, median at calibration {:.2f}",
                       one.name, class_name(one.cls, names), place, way, one.now, one.before);
}
}  // namespace

MonitorVerdict Monitor::verdict() const {
    const State& state = *state_;
    const Reference& layout = *state.layout;
    MonitorVerdict out;
    out.options = state.options;
    out.grouped = state.grouped;
    out.reference_units = layout.units;
    out.images = state.images;
    out.units = state.units;
    out.labelled_units = state.labelled_units;
    out.set_size = state.late_set_size;
    for (std::size_t f = 0; f < state.features.size(); ++f) {
        const std::size_t number = f % layout.per_class();
        const FeatureState& own = state.features[f];
        WatchedFeature one;
        one.cls = layout.classes[f / layout.per_class()];
        one.regional = number >= Reference::kWhole;
        one.name = std::string(Reference::kNames[one.regional ? 1 : number]);
        if (one.regional) {
            const std::size_t region = number - Reference::kWhole;
            one.rows = stretch(region / layout.blocks, layout.blocks, state.grid.height);
            one.columns = stretch(region % layout.blocks, layout.blocks, state.grid.width);
        }
        one.evidence = std::exp(std::min(state.evidence(f), 700.0));
        one.direction = 1 - 2 * own.late_p;
        one.before = layout.values[f * layout.units + layout.units / 2];
        one.now = own.late_value;
        if (f > 0 && state.evidence(f) > state.evidence(out.leading)) out.leading = f;
        out.features.push_back(std::move(one));
    }
    out.outputs = state.outputs;
    for (std::size_t i = 0; i < state.classes.size(); ++i) {
        const MeanBounds& bounds = state.losses[i].bounds;
        if (bounds.count == 0) continue;
        if (state.labels && state.labels->what == i)
            out.labels = Alarm{state.labels->unit, out.coverage.size()};
        if (state.odds && state.odds->what == i) out.odds = Alarm{state.odds->unit, out.coverage.size()};
        WatchedCoverage& one = out.coverage.emplace_back();
        one.cls = state.classes[i];
        one.units = bounds.count;
        one.coverage = 1 - bounds.mean();
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        one.low = bounds.none() ? kNone : 1 - bounds.high;
        one.high = bounds.none() ? kNone : 1 - bounds.low;
        one.limit = 1 - state.losses[i].limit;
        one.evidence = std::exp(std::min(state.loss_evidence(i), 700.0));
        one.odds_evidence = std::numeric_limits<double>::quiet_NaN();
        if (state.shortfalls.empty()) continue;
        const auto [evidence, share] = state.odds_evidence(i);
        const std::size_t place = i * Reference::kShares.size() + share;
        const std::vector<float>& reference = layout.shortfalls[place];
        one.odds_evidence = std::exp(std::min(evidence, 700.0));
        one.odds_share = Reference::kShares[share];
        one.odds_before = reference.empty() ? 0.0 : -static_cast<double>(reference[reference.size() / 2]);
        one.odds_now = -state.shortfalls[place].late_value;
    }
    return out;
}

MonitorCourse Monitor::outputs_course() const {
    std::vector<std::string> columns{"log10 evidence", "leading feature", "set size"};
    const std::size_t shown = (state_->outputs_course.columns() - columns.size()) / Reference::kWhole;
    for (std::size_t c = 0; c < shown; ++c)
        for (const std::string_view name : Reference::kNames)
            columns.push_back(fmt::format("{} of class {}", name, state_->layout->classes[c]));
    return course_of(state_->outputs_course, state_->units, std::move(columns));
}

MonitorCourse Monitor::labels_course() const {
    std::vector<std::string> columns;
    for (std::size_t i = 0; 3 * i < state_->labels_course.columns(); ++i)
        for (const char* const what : {"coverage", "low", "high"})
            columns.push_back(fmt::format("{} of class {}", what, state_->classes[i]));
    MonitorCourse out = course_of(state_->labels_course, state_->labelled_units, std::move(columns));
    for (std::vector<float>& row : out.rows)
        for (std::size_t i = 0; i + 2 < row.size(); i += 3)
            if (row[i + 1] > row[i + 2]) row[i + 1] = row[i + 2] = std::numeric_limits<float>::quiet_NaN();
    return out;
}

std::vector<float> Monitor::change_map() const {
    const Reference& layout = *state_->layout;
    const Grid grid = state_->grid;
    std::vector<float> out(state_->all_classes * grid.pixels(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < layout.classes.size() && layout.blocks > 0; ++i)
        for (std::size_t region = 0; region < std::size_t{layout.blocks} * layout.blocks; ++region) {
            const FeatureState& own = state_->features[i * layout.per_class() + Reference::kWhole + region];
            const PixelRange rows = stretch(region / layout.blocks, layout.blocks, grid.height),
                             columns = stretch(region % layout.blocks, layout.blocks, grid.width);
            for (std::size_t y = rows.begin; y < rows.end; ++y)
                std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(layout.classes[i] * grid.pixels() +
                                                                      y * grid.width + columns.begin),
                            columns.size(), static_cast<float>(1 - 2 * own.late_p));
        }
    return out;
}

std::vector<std::string> describe(const MonitorVerdict& verdict, const std::vector<std::string>& names) {
    const char* const unit = verdict.grouped ? "group" : "image";
    const double wanted = 1 / verdict.options.delta;
    std::vector<std::string> out;
    const WatchedFeature& leading = verdict.features.at(verdict.leading);
    if (verdict.units == 0) {
        out.push_back(fmt::format("outputs: no {} has been judged yet", unit));
    } else if (verdict.outputs) {
        // The feature that raised the alarm, and the region of its class that changed most.
        const WatchedFeature& rang = verdict.features.at(verdict.outputs->what);
        std::string text =
            fmt::format("outputs: ALARM at {} {}: {}", unit, verdict.outputs->unit, change_text(rang, names));
        const WatchedFeature* most = nullptr;
        for (const WatchedFeature& one : verdict.features)
            if (one.regional && one.cls == rang.cls && (most == nullptr || one.evidence > most->evidence))
                most = &one;
        if (most != nullptr && !rang.regional)
            text += most->evidence < 1
                        ? std::string("; no region stands out")
                        : fmt::format("; the region that changed most is rows {}-{}, columns {}-{}",
                                      most->rows.begin, most->rows.end - 1, most->columns.begin,
                                      most->columns.end - 1);
        out.push_back(std::move(text));
    } else {
        out.push_back(fmt::format("outputs: no change found (evidence {:.2g} of {:.4g}; most for {} of {}{})",
                                  leading.evidence, wanted, leading.name, class_name(leading.cls, names),
                                  leading.regional ? " in one region" : ""));
    }
    for (std::size_t i = 0; i < verdict.coverage.size(); ++i) {
        const WatchedCoverage& one = verdict.coverage[i];
        const bool below = verdict.labels && verdict.labels->what == i,
                   fell = verdict.odds && verdict.odds->what == i;
        std::string text = fmt::format("coverage of {}: {:.3f} in {} {}s, ", class_name(one.cls, names),
                                       one.coverage, one.units, unit);
        text += std::isnan(one.low) ? std::string("its true value has changed: no constant one is possible")
                                    : fmt::format("true value in [{:.3f}, {:.3f}]", one.low, one.high);
        if (below)
            text +=
                fmt::format("; ALARM at labelled {} {}: below {:.3f}", unit, verdict.labels->unit, one.limit);
        if (fell)
            text += fmt::format(
                "; ALARM at labelled {} {}: the model became less sure of the class in pixels labelled with "
                "it (log2 of the odds that {:.0f} % of them reach: {:.2f} recently, {:.2f} at calibration)",
                unit, verdict.odds->unit, 100 * one.odds_share, one.odds_now, one.odds_before);
        const bool compared = !std::isnan(one.odds_evidence);
        if (!below && !fell)
            text += fmt::format(
                "; {} (evidence {:.2g} that it is below {:.3f}{}; alarm at {:.4g})",
                std::max(one.evidence, compared ? one.odds_evidence : 0) < wanted
                    ? "no alarm"
                    : "its evidence reaches the alarm's level too",
                one.evidence, one.limit,
                compared ? fmt::format(", {:.2g} that odds are lower than at calibration", one.odds_evidence)
                         : std::string(),
                wanted);
        if (!compared) text += "; the calibrator stores no odds for comparison";
        out.push_back(std::move(text));
    }
    return out;
}

}  // namespace kandinsky
