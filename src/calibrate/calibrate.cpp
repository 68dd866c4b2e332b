#include <algorithm>
#include <cmath>
#include <iterator>
#include <kandinsky/calibrator.hpp>
#include <optional>
#include <utility>

#include "calibrate/by_stratum.hpp"
#include "calibrate/choose.hpp"
#include "calibrate/sample.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "core/team/team.hpp"
#include "score/group_identity.hpp"

namespace kandinsky {

namespace {
/// The images that find the regions, and those that set the thresholds; groups stay whole. One split for all
/// methods. One side may be empty.
DataSplit split_groups(const Dataset& data, const CalibrateOptions& options, std::uint64_t groups,
                       Progress& progress) {
    const auto count = static_cast<std::size_t>(std::llround(options.split * static_cast<double>(groups)));
    std::vector<std::uint32_t> chosen;
    if (count > 0)
        chosen =
            draw_sample(data, group_identities(data, progress), count, SamplePurpose::split, options.seed, 0);
    DataSplit data_split;
    for (std::uint32_t image = 0, next = 0; image < data.images(); ++image)
        if (next < chosen.size() && chosen[next] == image)
            data_split.learn.push_back(chosen[next++]);
        else
            data_split.level.push_back(image);
    return data_split;
}

}  // namespace

void use_paper_settings(CalibrateOptions& options) {
    options.pooling = Pooling::pixels;
    options.fallback = Fallback::none;
    for (const Method* one : methods())
        for (const MethodOption& option : one->options)
            if (!option.paper.empty()) options.settings.text.emplace(option.flag, option.paper);
}

std::vector<Calibrator> calibrate_all(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                      Progress& progress, std::vector<double>* seconds) {
    if (options.empty()) fail(ErrorKind::usage, "there is no method to calibrate with");
    std::vector<CalibrateOptions> wanted;
    for (const CalibrateOptions& one : options) {
        check_method(one.method);  // unknown names are told before any work
        if (one.sketch != 0)
            fail(ErrorKind::usage,
                 "--sketch is for images that are seen once; these can be read again, so "
                 "leave it out and the thresholds are exact");
        wanted.push_back(effective(one));
    }
    // Hard methods share their walks over the data. Soft ones divide the images and make their curves
    // themselves, and where something is to be chosen, each stratum may be of either kind.
    const auto is_hard = [](const CalibrateOptions& one) {
        return !has_choice(one) && !method(one.method).fit_curves;
    };
    std::vector<CalibrateOptions> hard, open;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(hard), is_hard);
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(open), has_choice);
    const bool finds_regions = !hard.empty() || !open.empty();
    const Stopwatch start;
    std::optional<DataSplit> data_split;
    if (const double share = wanted.front().split; share > 0) {
        Communicator& comm = data.team().comm;
        const std::uint64_t groups = total(comm, data.groups());
        data_split = split_groups(data, wanted.front(), groups, progress);
        data_split->nobody_learns = total(comm, data_split->learn.size()) == 0;
        data_split->nobody_levels = total(comm, data_split->level.size()) == 0;
        if ((data_split->nobody_learns || data_split->nobody_levels) && finds_regions)
            fail(ErrorKind::usage, "--split {} of {} {} leaves one side empty", share, groups,
                 data.grouped() ? "groups" : "images");
    }
    std::optional<Dataset> fitting, setting;
    std::optional<CalibrationRun> whole, finder, setter;
    if (data_split && finds_regions) {
        fitting = data.subset(data_split->learn), setting = data.subset(data_split->level);
        finder.emplace(*fitting, wanted, progress), setter.emplace(*setting, wanted, progress);
    }
    // Methods that look at every pixel's curve, and the one whose regions are the pixels.
    const bool pixels_next = !data_split && std::any_of(hard.begin(), hard.end(), [](const auto& one) {
        return method(one.method).uses_features || method(one.method).pixelwise;
    });
    if (!data_split || hard.size() < wanted.size()) whole.emplace(data, wanted, progress, pixels_next);
    const DataSplit* const parts = data_split ? &*data_split : nullptr;
    CalibrationRun &find = finder ? *finder : *whole, &set = setter ? *setter : *whole;
    const double reading = start.seconds() / static_cast<double>(wanted.size());

    std::vector<double> hard_seconds(hard.size());
    std::vector<Calibrator> made;
    if (!hard.empty())
        made = set.set_thresholds(hard, find.find_regions(hard, !data_split, hard_seconds), hard_seconds);
    const Stopwatch choosing;
    std::vector<std::vector<Choice>> choices;
    if (!open.empty()) choices = choose(find.data(), find.census(), open, progress);
    const double choice_seconds = choosing.seconds() / static_cast<double>(open.size());
    std::vector<Calibrator> calibrators;
    std::vector<double> times;
    for (std::size_t m = 0, h = 0, c = 0; m < wanted.size(); ++m) {
        const Stopwatch own;
        if (is_hard(wanted[m])) {
            calibrators.push_back(std::move(made[h]));
            times.push_back(reading + hard_seconds[h++]);
        } else if (has_choice(wanted[m])) {
            calibrators.push_back(
                calibrate_by_stratum(wanted[m], std::move(choices[c++]), parts, {find, set, *whole}));
            times.push_back(reading + choice_seconds + own.seconds());
        } else {
            std::vector<Choice> same(whole->census().strata);
            for (Choice& choice : same) choice.method = wanted[m].method;
            calibrators.push_back(
                calibrate_by_stratum(wanted[m], std::move(same), parts, {*whole, *whole, *whole}));
            calibrators.back().choices.clear();  // nothing was to choose
            times.push_back(reading + own.seconds());
            continue;
        }
        if (!finder) continue;
        // The thresholds are the setter's; all images count as seen.
        calibrators.back().images += finder->census().images;
        calibrators.back().groups += finder->census().groups;
        for (std::size_t i = 0; i < 2; ++i)
            calibrators.back().fingerprint[i] += finder->census().fingerprint[i];
    }
    if (seconds != nullptr) *seconds = std::move(times);
    return calibrators;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front());
}

}  // namespace kandinsky
