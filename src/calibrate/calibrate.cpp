#include <algorithm>
#include <cmath>
#include <iterator>
#include <kandinsky/calibrator.hpp>
#include <map>
#include <optional>
#include <utility>

#include "calibrate/adapted_regions.hpp"
#include "calibrate/choice_label.hpp"
#include "calibrate/choose.hpp"
#include "calibrate/confidence.hpp"
#include "calibrate/leave_one_out.hpp"
#include "calibrate/sample.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "curve/group_weights.hpp"
#include "partition/method.hpp"

namespace kandinsky {

namespace {
/// With fewer effective groups the levels would be unreliable.
constexpr double kLeastEffective = 10;

/// The data of one calibration. `finder` has the images from which regions are learnt, `setter` the images
/// that set thresholds, and `all` every image; soft methods divide `all` themselves.
struct CalibrationRuns {
    CalibrationRun &finder, &setter, &all;
};

/// Calibrates each stratum by its method; some methods may be soft. All choices in `options` are resolved.
/// `data_split` tells soft methods how to divide the images; null: they do not divide them.
Calibrator calibrate_by_stratum(const CalibrateOptions& options, std::vector<Choice> choices,
                                const DataSplit* data_split, const CalibrationRuns& runs) {
    const Grid& grid = runs.all.data().grid();
    const std::size_t strata = choices.size();
    std::vector<CalibrateOptions> own;
    std::vector<Partition> partitions;
    std::vector<bool> soft, pixelwise;
    std::map<std::string, std::vector<std::uint32_t>> soft_strata;  // of each soft method with its options
    std::size_t curves_wanted = 0;
    for (std::size_t s = 0; s < strata; ++s) {
        const Method& how = method(choices[s].method);
        own.push_back(settled(options, choices[s]));
        soft.push_back(how.fit_curves != nullptr);
        if (how.uses_features) runs.finder.find_features();
        partitions.push_back(soft[s] ? whole_image(grid) : runs.finder.region_of(own[s], s));
        pixelwise.push_back(!soft[s] && is_pixelwise(partitions[s]));
        curves_wanted += soft[s] ? grid.pixels() : partitions[s].regions;
        if (soft[s])
            soft_strata[label_of(choices[s].method, choices[s].tuned)].push_back(
                static_cast<std::uint32_t>(s));
    }
    // All curves of a calibrator use one ladder.
    const CurveRule rule = rule_for(options, curves_wanted);
    const auto some = [](const std::vector<bool>& flags) {
        return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    std::vector<Adaptation> adaptations;
    if (options.adapt == Adapt::image && !some(soft)) {
        std::vector<SmoothCurves> smooth =
            adapted_curves(options, partitions, runs.finder, runs.setter, rule.ladder, adaptations);
        Calibrator calibrator =
            runs.setter.finish(options, std::move(partitions),
                               std::vector<CurveSet>(strata, CurveSet(rule.ladder)), std::move(smooth));
        calibrator.choices = std::move(choices);
        calibrator.adaptations = std::move(adaptations);
        return calibrator;
    }
    std::vector<bool> by_region;
    std::vector<Partition> wanted;  // soft and pixelwise strata are one region here
    for (std::size_t s = 0; s < strata; ++s) {
        by_region.push_back(!soft[s] && !pixelwise[s]);
        wanted.push_back(by_region[s] ? partitions[s] : whole_image(grid));
    }
    std::vector<CurveSet> regions, pixels, curves;
    if (some(pixelwise)) pixels = runs.setter.pixel_curves(rule);
    if (some(by_region)) regions = runs.setter.region_curves(wanted, rule);
    for (std::size_t s = 0; s < strata; ++s)
        curves.push_back(soft[s] ? CurveSet(rule.ladder, rule.released)
                                 : std::move(pixelwise[s] ? pixels[s] : regions[s]));
    std::vector<SmoothCurves> smooth(some(soft) ? strata : 0);
    for (const auto& [label, those] : soft_strata) {
        std::vector<SoftCurves> made =
            runs.all.soft_curves(own[those.front()], those, data_split, rule.ladder);
        for (std::size_t i = 0; i < those.size(); ++i) {
            partitions[those[i]] = std::move(made[i].partition);
            smooth[those[i]] = std::move(made[i].curves);
            if (options.adapt == Adapt::none) continue;
            adaptations.resize(strata);
            adaptations[those[i]] = std::move(made[i].adaptation);
        }
    }
    Calibrator calibrator =
        runs.setter.finish(options, std::move(partitions), std::move(curves), std::move(smooth));
    calibrator.choices = std::move(choices);
    calibrator.adaptations = std::move(adaptations);
    return calibrator;
}

/// Throws a data error if the weights leave too few effective groups.
void check_effective(const Weighting& weighting, bool grouped) {
    if (weighting.effective >= kLeastEffective) return;
    fail(ErrorKind::data,
         "the weights leave {:.1f} effective {} of the {} that set the thresholds, but {} are needed; "
         "calibrate on more data like the new data, or clip the weights with a smaller `max_weight`",
         weighting.effective, grouped ? "groups" : "images", weighting.groups, kLeastEffective);
}

/// Calibrators of options that share score, promise and split. Appends the seconds of each to `times`.
std::vector<Calibrator> calibrate_alike(const Dataset& data, const std::vector<CalibrateOptions>& wanted,
                                        Progress& progress, std::vector<double>& times) {
    // A soft method divides the images and makes its curves itself. Otherwise the regions of each stratum are
    // found first, by the method that is given or chosen for the stratum.
    std::vector<CalibrateOptions> open;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(open), has_choice);
    const auto is_soft = [](const CalibrateOptions& one) {
        return !has_choice(one) && method(one.method.name).fit_curves;
    };
    const bool all_soft = std::all_of(wanted.begin(), wanted.end(), is_soft);
    const Stopwatch start;
    std::optional<DataSplit> data_split;
    if (const double share = wanted.front().split; share > 0) {
        Communicator& comm = team_of(data).comm;
        const std::uint64_t groups = total(comm, data.groups());
        data_split = split_groups(data, wanted.front(), groups, progress);
        data_split->nobody_learns = total(comm, data_split->learn.size()) == 0;
        data_split->nobody_levels = total(comm, data_split->level.size()) == 0;
        if ((data_split->nobody_learns || data_split->nobody_levels) && !all_soft)
            fail(ErrorKind::usage, "`split {}` of {} {} leaves one side empty", share, groups,
                 data.grouped() ? "groups" : "images");
    }
    std::optional<Dataset> fitting, setting;
    std::optional<CalibrationRun> whole, finder, setter;
    if (data_split && !all_soft) {
        fitting = data.subset(data_split->learn), setting = data.subset(data_split->level);
        finder.emplace(*fitting, wanted, progress), setter.emplace(*setting, wanted, progress);
    }
    // One pass for all methods that need the scores of every pixel.
    PixelScan scan;
    for (const CalibrateOptions& one : wanted)
        if (one.method.name != kAutoMethod && !data_split) {
            scan.features = scan.features || method(one.method.name).uses_features;
            scan.curves = scan.curves || method(one.method.name).pixelwise;
        }
    if (!data_split || !open.empty() || std::any_of(wanted.begin(), wanted.end(), is_soft))
        whole.emplace(data, wanted, progress, scan);
    CalibrationRun &find = finder ? *finder : *whole, &set = setter ? *setter : *whole;
    if (scan.features) find.find_features();
    std::vector<std::vector<Choice>> choices;
    const double reading = start.seconds() / static_cast<double>(wanted.size());
    const Stopwatch choosing;
    if (!open.empty()) choices = choose(find.data(), find.census(), open, progress);
    const double choice_seconds = choosing.seconds() / static_cast<double>(open.size());

    std::vector<Calibrator> calibrators;
    auto next_choice = choices.begin();
    for (const CalibrateOptions& one : wanted) {
        const Stopwatch own;
        const bool chosen = has_choice(one), soft = is_soft(one);
        std::vector<Choice> by_stratum(find.census().strata);
        for (Choice& choice : by_stratum) choice.method = one.method.name;
        if (chosen) by_stratum = std::move(*next_choice++);
        CalibrationRun& all = whole ? *whole : set;
        calibrators.push_back(one.promise == Promise::leave_one_out && !soft && one.adapt == Adapt::image
                                  ? adapted_leave_one_out(one, std::move(by_stratum), all, progress)
                              : one.promise == Promise::leave_one_out && !soft
                                  ? leave_one_out(one, std::move(by_stratum), all, progress)
                                  : calibrate_by_stratum(one, std::move(by_stratum),
                                                         data_split ? &*data_split : nullptr,
                                                         {soft ? all : find, soft ? all : set, all}));
        Calibrator& made = calibrators.back();
        if (!one.weights.none()) {
            made.weighting = weighting_of(data_split ? data.subset(data_split->level) : data, one.weights);
            made.options.weights = {};
            check_effective(made.weighting, data.grouped());
        }
        made.logits = data.options().logits, made.ignore = data.options().ignore;
        if (!chosen) made.choices.clear();
        if (finder && !soft) {  // `setter` sets the thresholds, but all images count as seen
            made.images += finder->census().images;
            made.groups += finder->census().groups;
            made.classless = made.classless || finder->census().classless > 0;
            for (std::size_t i = 0; i < 2; ++i) made.fingerprint[i] += finder->census().fingerprint[i];
        }
        times.push_back(reading + (chosen ? choice_seconds : 0) + own.seconds());
    }
    return calibrators;
}
}  // namespace

CalibrateOptions paper_settings(CalibrateOptions options) {
    options.score = {.half = options.score.half};
    options.pooling = Pooling::pixels;
    options.fallback = Fallback::none;
    for (const Method* one : methods())
        for (const MethodOption& option : one->options)
            if (!option.paper.empty()) options.method.settings.text.emplace(option.flag, option.paper);
    return options;
}

std::vector<TimedCalibrator> calibrate_all(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                           Progress& progress) {
    if (options.empty()) fail(ErrorKind::usage, "there is no method to calibrate with; give at least one");
    const std::uint64_t groups = total(team_of(data).comm, data.groups());
    std::vector<CalibrateOptions> wanted;
    std::vector<std::size_t> open;
    const GroupWeights& weights = options.front().weights;
    check_weights(data, weights);
    const Weighting all = weighting_of(data, weights);
    const double share = all.none() ? 1 : (1 / all.at_infinity - 1) / static_cast<double>(all.groups);
    for (const CalibrateOptions& one : options) {
        if (one.weights.of_row != weights.of_row || one.weights.bound != weights.bound)
            fail(
                ErrorKind::usage,
                "options that are calibrated together must have the same weights; call calibrate() for each");
        check_method(one.method.name);  // unknown names are reported before any work
        check_confidence(one);
        if (one.confidence > 0 && !one.weights.none())
            fail(ErrorKind::usage, "`confidence` needs groups of equal weight, so leave the weights out");
        if (one.sketch != 0)
            fail(ErrorKind::usage,
                 "`sketch` is for images that are seen once; these can be read again, so "
                 "leave it out and the thresholds are exact");
        if (one.confidence == 0) open.push_back(wanted.size());
        CalibrateOptions own = one;
        // Among several methods, `auto` is used without adaptation, because it cannot adapt.
        if (options.size() > 1 && own.method.name == kAutoMethod) own.adapt = Adapt::none;
        wanted.push_back(one.confidence > 0 ? std::move(own)
                                            : with_promise(effective(std::move(own)), groups, share));
    }
    std::vector<TimedCalibrator> out(wanted.size());
    for (std::size_t m = 0; m < wanted.size(); ++m) {
        if (wanted[m].confidence == 0) continue;
        const Stopwatch own;
        out[m].calibrator = calibrate_confident(data, wanted[m], progress);
        out[m].seconds = own.seconds();
    }
    while (!open.empty()) {
        const CalibrateOptions first = wanted[open.front()];
        const auto later = std::stable_partition(open.begin(), open.end(), [&](std::size_t m) {
            return wanted[m].score == first.score && wanted[m].promise == first.promise &&
                   wanted[m].split == first.split;
        });
        std::vector<CalibrateOptions> alike;
        for (auto m = open.begin(); m != later; ++m) alike.push_back(wanted[*m]);
        std::vector<double> own;
        std::vector<Calibrator> made = calibrate_alike(data, alike, progress, own);
        for (std::size_t i = 0; i < made.size(); ++i)
            out[open[i]] = {.calibrator = std::move(made[i]), .seconds = own[i]};
        open.erase(open.begin(), later);
    }
    return out;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front().calibrator);
}

}  // namespace kandinsky
