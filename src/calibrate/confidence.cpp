#include "calibrate/confidence.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/rung.hpp"
#include "partition/method.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "calibrate/betting.hpp"
#include "calibrate/group_losses.hpp"
#include "calibrate/sample.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/team/team.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kSteps = 1000;     // approximate number of nested sets
constexpr double kLearningShare = 0.25;  // of the groups; the bound needs more groups than learning does

/// The options for learning nested sets from some groups. The guarantee holds for any nested sets. Unless
/// levels follow the image, pixels are pooled, so that all levels exist even with few groups.
CalibrateOptions learning(const CalibrateOptions& asked) {
    CalibrateOptions out = asked;
    out.confidence = 0;
    out.risk = Risk::recall;
    out.promise = Promise::none;
    out.split = 0;
    out.rungs = kSteps;
    if (out.adapt == Adapt::none) out.pooling = Pooling::pixels;
    return out;
}

/// Whether the method learns nothing and has a single region in each stratum.
bool learns_nothing(const CalibrateOptions& asked, const Dataset& data) {
    if (asked.method.name == kAutoMethod || asked.adapt == Adapt::image ||
        method(asked.method.name).uses_labels)
        return false;
    const std::vector<std::uint32_t> none(data.grid().pixels());
    for (std::size_t s = 0; s < strata_of(data, asked.condition); ++s) {
        PartitionInput input;
        input.grid = data.grid();
        input.counts = none;
        input.stratum = static_cast<std::uint32_t>(s);
        input.strata = strata_of(data, asked.condition);
        if (fit_region(asked, input, silent()).regions > 1) return false;
    }
    return true;
}

/// Tests steps in fixed sequences, for one stratum and all alphas of a ladder.
class Sequences {
  public:
    Sequences(const GroupLosses& losses, std::size_t steps, double delta)
        : losses_(losses), steps_(steps), delta_(delta) {}

    /// The first step such that it and all later steps pass the test of the recall. Tests start with the
    /// largest sets. kEveryClass if no step passes.
    [[nodiscard]] std::uint32_t least_for_recall(double alpha) const {
        const BettingTest test(alpha, delta_, losses_.with_class);
        std::size_t step = steps_;
        while (step > 0 && test.passes(losses_.missed_at(step - 1))) --step;
        return step == steps_ ? kEveryClass : static_cast<std::uint32_t>(step);
    }
    /// The last step such that all steps from `start` to it pass the test of the precision; kNone if `start`
    /// fails.
    [[nodiscard]] std::uint32_t most_for_precision(double alpha, std::size_t start) const {
        const BettingTest test(alpha, delta_, losses_.groups);
        std::size_t step = start;
        while (step < steps_ && test.passes(losses_.wrong_at(step))) ++step;
        return step == start ? RiskLevels::kNone : static_cast<std::uint32_t>(step - 1);
    }

  private:
    const GroupLosses& losses_;
    std::size_t steps_;
    double delta_;
};

/// The steps and levels at which a stratum's curves are read.
struct Levels {
    std::vector<std::uint32_t> steps;  ///< [rung] for recall
    RiskLevels risk;                   ///< if precision is promised
};

/// The step at which tests of the precision start: the most precise step in the groups from which sets are
/// learnt; the last one if several are equal. The smallest sets need not be the most precise, because models
/// are certain of some of their errors. A group that misses all pixels of the class also counts as wrong;
/// otherwise empty sets would always win. Any rule that does not use the other groups is valid.
std::uint32_t most_precise(const GroupLosses& learnt, std::size_t steps) {
    std::uint32_t best = 0;
    double least = 3;
    for (std::uint32_t k = 0; k < steps; ++k) {
        const std::span<const double> wrong = learnt.wrong_at(k), missed = learnt.missed_at(k);
        const double now = std::accumulate(wrong.begin(), wrong.end(), 0.0) +
                           static_cast<double>(std::count(missed.begin(), missed.end(), 1.0));
        if (now / static_cast<double>(learnt.groups) > least) continue;
        least = now / static_cast<double>(learnt.groups), best = k;
    }
    return best;
}

/// `start`: the step at which tests of the precision start.
Levels find_levels(const Sequences& tests, const Ladder& ladder, Risk risk, std::uint32_t start) {
    const std::size_t rungs = ladder.levels.size();
    std::vector<std::uint32_t> recall(rungs, 0), precision(rungs, 0);
    parallel_for(rungs, [&](std::size_t k) {
        const double alpha = 1 - ladder.levels[k];
        if (risk != Risk::precision) recall[k] = tests.least_for_recall(alpha);
        if (risk != Risk::recall) precision[k] = tests.most_for_precision(alpha, start);
    });
    Levels out;
    // The steps found for neighbouring alphas need not be in order. Larger sets miss less, and every step
    // before the end of a sequence has passed, so the steps can be put in order.
    for (std::size_t k = 1; k < rungs; ++k) {
        recall[k] = std::max(recall[k], recall[k - 1]);
        if (precision[k - 1] == RiskLevels::kNone || precision[k] > precision[k - 1])
            precision[k] = precision[k] == RiskLevels::kNone ? precision[k] : precision[k - 1];
    }
    out.steps = std::move(recall);
    if (risk == Risk::recall) return out;
    // Steps before the start are not tested for precision, so the start is used even if the recall would
    // allow an earlier step.
    for (std::uint32_t& step : out.steps) step = std::max(step, start);
    std::size_t kept = 0;  // rungs that qualify
    while (kept < rungs && precision[kept] != RiskLevels::kNone &&
           (risk == Risk::precision || out.steps[kept] <= precision[kept]))
        ++kept;
    out.risk.least_alpha = kept == 0 ? 2 : 1 - ladder.levels[kept - 1];
    if (risk == Risk::both) return out;
    out.risk.rungs = std::move(precision);
    for (std::size_t k = kept; k < rungs; ++k) out.risk.rungs[k] = RiskLevels::kNone;
    return out;
}

/// Sets the levels of a calibrator by the losses of `groups`, which were not used to make it. `learnt` has
/// the groups that were used; their losses also determine where the tests of the precision start. It may be
/// null for Risk::recall.
void set_levels(const NestedSets& sets, const CalibrateOptions& asked, const Dataset* learnt,
                const Dataset& groups, Calibrator& out, Progress& progress) {
    const bool precision = asked.risk != Risk::recall;
    std::vector<std::uint32_t> starts(out.strata());
    if (precision)
        each_stratum_losses(
            *learnt, sets, true,
            [&](std::size_t s, const GroupLosses& losses) { starts[s] = most_precise(losses, sets.steps()); },
            progress);
    // With Risk::both, two guarantees hold together, so their probabilities of failure add up.
    const double delta = (1 - asked.confidence) / (asked.risk == Risk::both ? 2 : 1);
    std::size_t curves = 0;
    for (std::size_t s = 0; s < out.strata(); ++s)
        curves += out.smooth_of(s) != nullptr ? out.grid.pixels() : out.partitions[s].regions;
    const Ladder ladder =
        asked.risk == Risk::precision ? sets.base().curves.front().ladder() : rule_for(asked, curves).ladder;
    out.risks.resize(precision ? out.strata() : 0);
    each_stratum_losses(
        groups, sets, precision,
        [&](std::size_t s, const GroupLosses& losses) {
            Levels levels = find_levels({losses, sets.steps(), delta}, ladder, asked.risk, starts[s]);
            if (precision) out.risks[s] = std::move(levels.risk);
            if (asked.risk == Risk::precision)
                for (std::size_t k = 0; k < ladder.levels.size(); ++k)
                    levels.steps[k] = static_cast<std::uint32_t>(k);  // each step has its own rung
            const std::uint64_t setting = asked.risk == Risk::precision ? losses.groups : losses.with_class;
            read_at_steps(sets, s, levels.steps, ladder, setting, out);
        },
        progress);
}
}  // namespace

void check_confidence(const CalibrateOptions& options) {
    if (!(options.confidence >= 0 && options.confidence < 1))
        fail(ErrorKind::usage, "`confidence` is {}, but must lie between 0 and 1, e.g. 0.95",
             options.confidence);
    if (options.confidence == 0) {
        if (options.risk != Risk::recall)
            fail(ErrorKind::usage,
                 "`risk {}` needs `confidence`, e.g. 0.95: precision need not grow with the threshold, so "
                 "thresholds are tested one by one, and such tests guarantee it only with a confidence",
                 name_of(options.risk));
        return;
    }
    if (options.sketch != 0)
        fail(ErrorKind::usage,
             "`confidence` needs the losses of whole groups, but `sketch` sees every image once; leave one "
             "of them out");
    if (options.pooling == Pooling::pixels || options.released)
        fail(ErrorKind::usage,
             "`confidence` needs independent units, which groups are and pixels are not: leave out "
             "`pooling pixels` (and `preset paper`, `compat released`)");
    if (options.promise == Promise::leave_one_out)
        fail(ErrorKind::usage,
             "`confidence` excludes `promise loo`, which learns from all groups, so their losses are not "
             "independent and only their mean is bounded; use `promise split`");
    if (options.promise == Promise::none)
        fail(ErrorKind::usage,
             "`confidence` needs a guarantee, but `promise none` has none; use `promise split`");
    if (options.risk != Risk::recall && options.condition != Condition::by_class)
        fail(ErrorKind::usage, "`risk {}` is defined for single classes; leave out `condition none`",
             name_of(options.risk));
}

Calibrator calibrate_confident(const Dataset& data, const CalibrateOptions& asked, Progress& progress) {
    CalibrateOptions wanted = effective(asked);
    Communicator& comm = team_of(data).comm;
    const bool fixed = learns_nothing(wanted, data), divides = !fixed || wanted.risk != Risk::recall;
    const std::uint64_t groups = total(comm, data.groups());
    wanted.promise = divides ? Promise::split : Promise::none;
    if (!divides) wanted.split = 0;
    if (divides && wanted.split == 0) wanted.split = kLearningShare;
    std::optional<Dataset> learn, level;
    if (divides) {
        const DataSplit parts = split_groups(data, wanted, groups, progress);
        if (total(comm, parts.learn.size()) == 0 || total(comm, parts.level.size()) == 0)
            fail(ErrorKind::usage, "`split {}` of {} {} leaves one side empty", wanted.split, groups,
                 data.grouped() ? "groups" : "images");
        learn = data.subset(parts.learn), level = data.subset(parts.level);
    }
    Calibrator base;
    const Dataset& setting = divides ? *level : data;
    Census census;
    if (fixed) {
        base = fixed_steps(wanted, data.grid(), data.classes(), strata_of(data, wanted.condition));
        base.logits = data.options().logits, base.ignore = data.options().ignore;
        census = take_census(data, wanted.condition, progress);
    } else {
        base = calibrate(*learn, learning(asked), progress);
        census = take_census(setting, wanted.condition, progress);
    }
    Calibrator out = base;
    wanted.fallback = fixed ? Fallback::none : base.options.fallback;
    out.options = wanted;
    out.options.score = base.options.score;
    set_levels(NestedSets(base), wanted, divides ? &*learn : nullptr, setting, out, progress);
    // Images count as seen even if they set no threshold. If sets were learnt, `out` already counts the
    // images that they were learnt from.
    out.images += census.images, out.groups += census.groups;
    out.grouped = data.grouped(), out.masks = data.overlapping();
    out.classless = out.classless || census.classless > 0;
    out.version = KANDINSKY_VERSION;
    out.counts.resize(census.counts.size());
    for (std::size_t i = 0; i < census.counts.size(); ++i) out.counts[i] += census.counts[i];
    for (std::size_t i = 0; i < 2; ++i) out.fingerprint[i] += census.fingerprint[i];
    return out;
}

double curve_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha) {
    if (calibrator.risks.empty() || alpha >= 1) return alpha;
    const RiskLevels& own = calibrator.risks[stratum];
    if (alpha < own.least_alpha - kLevelSlack) {
        const std::string both = calibrator.options.risk == Risk::both ? "false-negative and " : "";
        if (own.least_alpha > 1)
            fail(ErrorKind::usage,
                 "class {}: no threshold has a {}false-discovery rate below 1 with confidence {}; calibrate "
                 "on more {}, or use `risk recall`",
                 stratum, both, calibrator.options.confidence, calibrator.grouped ? "groups" : "images");
        fail(ErrorKind::usage,
             "class {}: no threshold has a {}false-discovery rate of at most {} with confidence {}; the "
             "smallest possible alpha is {:.3f}; for a smaller one, calibrate on more {} or with a better "
             "model",
             stratum, both, alpha, calibrator.options.confidence,
             std::ceil(own.least_alpha * 1000 - 1e-6) / 1000, calibrator.grouped ? "groups" : "images");
    }
    if (own.rungs.empty()) return alpha;
    const Ladder& ladder = calibrator.curves[stratum].ladder();
    const std::size_t rung = calibrator.curves[stratum].rung_of(alpha);
    if (rung >= own.rungs.size() || own.rungs[rung] == RiskLevels::kNone)
        fail(ErrorKind::internal, "[risk] alpha {} has no rung", alpha);
    return 1 - ladder.levels[own.rungs[rung]];
}

double kept_alpha(const Calibrator& calibrator, std::size_t stratum, double alpha) {
    return calibrator.risks.empty() ? alpha : std::clamp(calibrator.risks[stratum].least_alpha, alpha, 1.0);
}

std::string_view name_of(Risk risk) {
    return risk == Risk::recall ? "recall" : risk == Risk::precision ? "precision" : "recall,precision";
}

Risk risk_of(std::string_view name) {
    if (name == "recall") return Risk::recall;
    if (name == "precision") return Risk::precision;
    if (name == "recall,precision" || name == "precision,recall") return Risk::both;
    fail(ErrorKind::usage, "`risk` is '{}', but must be recall, precision or recall,precision", name);
}

}  // namespace kandinsky
