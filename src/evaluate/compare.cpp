#include <algorithm>
#include <cmath>
#include <iterator>
#include <kandinsky/compare.hpp>
#include <numeric>

#include "calibrate/choose.hpp"
#include "calibrate/sample.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "evaluate/compare_row.hpp"
#include "evaluate/tally.hpp"
#include "partition/method.hpp"
#include "score/census.hpp"
#include "score/group_identity.hpp"

namespace kandinsky {

CompareRow compare_row(const Calibrator& calibrator, const Evaluation& evaluation,
                       const ProbabilityEvaluation& probabilities, std::size_t stratum) {
    const StratumEvaluation& from = evaluation.strata[stratum];
    CompareRow row;
    row.method = calibrator.options.method.name;
    const bool pooled = calibrator.options.condition == Condition::none;
    row.cls = pooled ? -1 : static_cast<int>(stratum);
    row.regions = calibrator.partitions[stratum].regions;
    row.mean_ce = from.mean_ce;
    row.q05 = from.q05;
    row.q95 = from.q95;
    row.floor = from.floor;
    row.false_share = from.false_share;
    row.false_discovery = from.false_discovery;
    row.sets = evaluation.sets;
    row.empty_share = evaluation.plain_sets.empty;
    for (std::size_t c = 0; c < probabilities.classes.size(); ++c) {
        if (!pooled && c != stratum) continue;
        const double share = pooled ? 1 / static_cast<double>(probabilities.classes.size()) : 1;
        row.ece += probabilities.classes[c].ece * share;
        row.smooth_ece += probabilities.classes[c].smooth_ece * share;
    }
    row.weighted_ce = from.weighted_ce;
    row.ce_enough = from.ce_enough;
    row.floor_enough = from.floor_enough;
    row.pixels_enough = from.pixels_enough;
    row.coverage_at_alpha = from.coverage_at_alpha;
    row.place_error = from.place_error;
    row.worst_region = from.worst_region.coverage;
    row.worst_block = from.worst_block.coverage;
    row.worst_size = evaluation.worst_size.coverage;
    row.images_below = from.image_coverage.below;
    row.filled_share = evaluation.filled_share;
    row.pixels = from.pixels;
    row.pixels_without_data = from.pixels_without_data;
    row.coverage = from.coverage;
    row.region_coverage = from.region_coverage;
    row.region_samples = from.region_samples;
    return row;
}

namespace {
/// The options that "METHOD" or "METHOD:SCORE" names.
CalibrateOptions options_of(const std::string& name, const CalibrateOptions& shared) {
    CalibrateOptions out = shared;
    const std::size_t colon = name.find(':');
    out.method.name = name.substr(0, colon);
    check_method(out.method.name);
    if (colon != std::string::npos) out.score.kind = score_kind(name.substr(colon + 1));
    return out;
}

/// The mean over several draws of the same row; counts and details are those of the last draw.
CompareRow average(const std::vector<CompareRow>& rows) {
    CompareRow mean = rows.back();
    const auto n = static_cast<double>(rows.size());
    const auto over = [&](auto&& value) {
        double sum = 0;
        for (const CompareRow& row : rows) sum += value(row);
        return sum / n;
    };
    for (double CompareRow::*field :
         {&CompareRow::mean_ce, &CompareRow::q05, &CompareRow::q95, &CompareRow::floor,
          &CompareRow::false_share, &CompareRow::false_discovery, &CompareRow::empty_share,
          &CompareRow::fit_seconds, &CompareRow::evaluate_seconds, &CompareRow::weighted_ce,
          &CompareRow::ce_enough, &CompareRow::floor_enough, &CompareRow::coverage_at_alpha,
          &CompareRow::place_error, &CompareRow::worst_region, &CompareRow::worst_block,
          &CompareRow::worst_size, &CompareRow::images_below, &CompareRow::filled_share})
        mean.*field = over([&](const CompareRow& row) { return row.*field; });
    for (double SetFigures::*figure : {&SetFigures::size, &SetFigures::false_classes, &SetFigures::empty,
                                       &SetFigures::single, &SetFigures::single_right, &SetFigures::full})
        mean.sets.*figure = over([&](const CompareRow& row) { return row.sets.*figure; });
    for (std::size_t l = 0; l < mean.coverage.size(); ++l) {
        mean.coverage[l] = 0;
        for (const CompareRow& row : rows) mean.coverage[l] += row.coverage[l] / n;
    }
    double spread = 0;
    for (const CompareRow& row : rows) {
        mean.draws.push_back(row.mean_ce);
        spread += (row.mean_ce - mean.mean_ce) * (row.mean_ce - mean.mean_ce);
    }
    mean.mean_ce_sd = rows.size() > 1 ? std::sqrt(spread / (n - 1)) : 0;
    return mean;
}

/// Compares; also makes the tally of the last draw unless `tally` is null.
Comparison run(const Dataset& calibration, const Dataset& test, const CompareOptions& options,
               Progress& progress, Tally* tally) {
    if (calibration.classes() != test.classes() || calibration.grid() != test.grid())
        fail(ErrorKind::data,
             "{} and {} differ: {} classes of {} x {} (height x width) and {} classes of {} x {}",
             calibration.options().probs_name, test.options().probs_name, calibration.classes(),
             calibration.grid().height, calibration.grid().width, test.classes(), test.grid().height,
             test.grid().width);
    if (options.draws == 0) fail(ErrorKind::usage, "`draws` is 0, but at least one draw is needed");
    if (options.draws > 1 && options.sample == 0)
        fail(ErrorKind::usage, "`draws` needs `sample`, the number of groups or images in each draw");
    if (options.draws > 1 && options.bootstrap > 0)
        fail(ErrorKind::usage, "`bootstrap` is for one draw; `draws {}` shows the spread over the draws",
             options.draws);
    const std::vector<std::string> names = options.methods.empty() ? default_methods() : options.methods;
    std::vector<CalibrateOptions> wanted;
    for (auto name = names.begin(); name != names.end(); ++name) {
        wanted.push_back(options_of(*name, options.calibrate));
        if (std::find(names.begin(), name, *name) != name)
            fail(ErrorKind::usage, "`methods` names '{}' twice", *name);
    }
    std::vector<CalibrateOptions> with_references = wanted;
    for (const std::string& name : options.references) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        with_references.push_back(options_of(name, options.calibrate));
        with_references.back().fallback = Fallback::none;
    }
    // Bad values of the test images are found before the calibration, which can take minutes.
    (void)take_census(test, options.calibrate.condition, progress);
    std::vector<std::uint64_t> who;
    if (options.sample > 0) who = group_identities(calibration, progress);

    Comparison result;
    result.grid = calibration.grid();
    result.test_images = total(team_of(test).comm, test.images());
    result.sample = options.sample;
    result.draws = options.draws;
    result.grouped = calibration.grouped();
    result.alpha = options.alpha;
    std::vector<std::vector<CompareRow>> rows;  // [stratum * methods + method][draw]
    for (std::size_t draw = 0; draw < options.draws; ++draw) {
        const Dataset part =
            options.sample > 0
                ? calibration.subset(draw_sample(calibration, who, options.sample, SamplePurpose::draws,
                                                 options.calibrate.seed, draw))
                : calibration;
        result.cal_images = total(team_of(part).comm, part.images());
        result.cal_groups = total(team_of(part).comm, part.groups());
        std::vector<double> fit_seconds;
        const bool last = draw + 1 == options.draws;
        result.calibrators.clear();
        result.references.clear();
        for (TimedCalibrator& one : calibrate_all(part, last ? with_references : wanted, progress)) {
            auto& place = result.calibrators.size() < wanted.size() ? result.calibrators : result.references;
            place.push_back(std::move(one.calibrator));
            fit_seconds.push_back(one.seconds);
        }
        std::vector<const Calibrator*> pointers;
        for (const Calibrator& one : result.calibrators) pointers.push_back(&one);
        const Stopwatch start;
        const EvaluateOptions how{.alpha = options.alpha,
                                  .maps = true,
                                  .empty = options.empty,
                                  .bootstrap = options.bootstrap,
                                  .seed = options.calibrate.seed};
        if (last && tally != nullptr) {
            Examination found = examine(test, pointers, how, progress);
            result.last = std::move(found.evaluation);
            *tally = std::move(found.tally);
        } else {
            result.last = evaluate(test, pointers, how, progress);
        }
        const double evaluate_seconds = start.seconds() / static_cast<double>(wanted.size());
        const std::size_t strata = result.calibrators.front().strata();
        rows.resize(strata * wanted.size());
        for (std::size_t s = 0; s < strata; ++s)
            for (std::size_t m = 0; m < wanted.size(); ++m) {
                CompareRow row = compare_row(result.calibrators[m], result.last.calibrators[m],
                                             result.last.probabilities, s);
                row.method = names[m];
                row.fit_seconds = fit_seconds[m];
                row.evaluate_seconds = evaluate_seconds;
                rows[s * wanted.size() + m].push_back(std::move(row));
            }
    }
    for (const auto& draws : rows) result.rows.push_back(average(draws));
    result.targets = result.last.calibrators.front().targets;
    result.reliability = result.last.probabilities.classes;
    return result;
}
}  // namespace

std::vector<std::string> default_methods() {
    std::vector<std::string> names;
    for (const Method* candidate : methods())
        if (!needs_array(*candidate)) names.push_back(candidate->name);
    return names;
}

Comparison compare(const Dataset& calibration, const Dataset& test, const CompareOptions& options,
                   Progress& progress) {
    return run(calibration, test, options, progress, nullptr);
}

ExaminedComparison compare_closely(const Dataset& calibration, const Dataset& test,
                                   const CompareOptions& options, Progress& progress) {
    ExaminedComparison out;
    out.comparison = run(calibration, test, options, progress, &out.tally);
    return out;
}

}  // namespace kandinsky
