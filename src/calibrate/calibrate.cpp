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
    options.score = {.half = options.score.half};
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
    // A soft method divides the images and makes its curves itself; the others find regions first, each
    // stratum by the method that it has, or that is chosen for it.
    std::vector<CalibrateOptions> open;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(open), has_choice);
    const auto is_soft = [](const CalibrateOptions& one) {
        return !has_choice(one) && method(one.method).fit_curves;
    };
    const bool all_soft = std::all_of(wanted.begin(), wanted.end(), is_soft);
    const Stopwatch start;
    std::optional<DataSplit> data_split;
    if (const double share = wanted.front().split; share > 0) {
        Communicator& comm = data.team().comm;
        const std::uint64_t groups = total(comm, data.groups());
        data_split = split_groups(data, wanted.front(), groups, progress);
        data_split->nobody_learns = total(comm, data_split->learn.size()) == 0;
        data_split->nobody_levels = total(comm, data_split->level.size()) == 0;
        if ((data_split->nobody_learns || data_split->nobody_levels) && !all_soft)
            fail(ErrorKind::usage, "--split {} of {} {} leaves one side empty", share, groups,
                 data.grouped() ? "groups" : "images");
    }
    std::optional<Dataset> fitting, setting;
    std::optional<CalibrationRun> whole, finder, setter;
    if (data_split && !all_soft) {
        fitting = data.subset(data_split->learn), setting = data.subset(data_split->level);
        finder.emplace(*fitting, wanted, progress), setter.emplace(*setting, wanted, progress);
    }
    // One walk for all that need the scores of every pixel.
    PixelWalk walk;
    for (const CalibrateOptions& one : wanted)
        if (one.method != kAutoMethod && !data_split) {
            walk.features = walk.features || method(one.method).uses_features;
            walk.curves = walk.curves || method(one.method).pixelwise;
        }
    if (!data_split || !open.empty() || std::any_of(wanted.begin(), wanted.end(), is_soft))
        whole.emplace(data, wanted, progress, walk);
    CalibrationRun &find = finder ? *finder : *whole, &set = setter ? *setter : *whole;
    if (walk.features) find.find_features();
    std::vector<std::vector<Choice>> choices;
    const double reading = start.seconds() / static_cast<double>(wanted.size());
    const Stopwatch choosing;
    if (!open.empty()) choices = choose(find.data(), find.census(), open, progress);
    const double choice_seconds = choosing.seconds() / static_cast<double>(open.size());

    std::vector<Calibrator> calibrators;
    std::vector<double> times;
    auto next_choice = choices.begin();
    for (const CalibrateOptions& one : wanted) {
        const Stopwatch own;
        const bool chosen = has_choice(one), soft = is_soft(one);
        std::vector<Choice> by_stratum(find.census().strata);
        for (Choice& choice : by_stratum) choice.method = one.method;
        if (chosen) by_stratum = std::move(*next_choice++);
        CalibrationRun& all = whole ? *whole : set;
        calibrators.push_back(calibrate_by_stratum(one, std::move(by_stratum),
                                                   data_split ? &*data_split : nullptr,
                                                   {soft ? all : find, soft ? all : set, all}));
        Calibrator& made = calibrators.back();
        if (!chosen) made.choices.clear();
        if (finder && !soft) {  // the thresholds are the setter's; all images count as seen
            made.images += finder->census().images;
            made.groups += finder->census().groups;
            made.classless = made.classless || finder->census().classless > 0;
            for (std::size_t i = 0; i < 2; ++i) made.fingerprint[i] += finder->census().fingerprint[i];
        }
        times.push_back(reading + (chosen ? choice_seconds : 0) + own.seconds());
    }
    if (seconds != nullptr) *seconds = std::move(times);
    return calibrators;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front());
}

}  // namespace kandinsky
