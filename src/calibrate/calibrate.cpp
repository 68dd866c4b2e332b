#include <algorithm>
#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/sketch.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "calibrate/by_stratum.hpp"
#include "calibrate/calibration_run.hpp"
#include "calibrate/choose.hpp"
#include "calibrate/sample.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "core/team/team.hpp"
#include "score/group_identity.hpp"

namespace kandinsky {

namespace {
/// Options as they take effect: the released code has no choice in these.
CalibrateOptions effective(CalibrateOptions options) {
    if (options.released && options.score.kind != ScoreKind::lac)
        fail(ErrorKind::usage, "--compat released has the score lac only, but --score is {}",
             name_of(options.score.kind));
    if (options.score.randomized) options.score.seed = options.seed;
    check_score(options.score);
    if (options.released) {
        use_paper_settings(options);
        options.score.half = true;
        for (double& level : options.quantiles) level = std::floor(level * 100 + 0.5) / 99.0;
    }
    settle_fallback(options);
    if (!(options.sketch >= 0))
        fail(ErrorKind::usage, "--sketch is {}, but must be an error above 0", options.sketch);
    if (options.quantiles.empty()) fail(ErrorKind::usage, "--quantiles needs at least one level");
    for (const double level : options.quantiles)
        if (!(level >= 0 && level <= 1))
            fail(ErrorKind::usage, "--quantiles has {}, but levels lie in [0, 1]", level);
    if (!(options.split >= 0 && options.split < 1))
        fail(ErrorKind::usage, "--split is {}, but must be a share of the groups, at least 0 and below 1",
             options.split);
    if (options.rungs == 1 || options.rungs > 100000)
        fail(ErrorKind::usage, "--rungs is {}, but must be 2 to 100000", options.rungs);
    return options;
}

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

/// Regions from some groups, thresholds from the others.
std::vector<Calibrator> calibrate_split(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                        const DataSplit& data_split, std::vector<double>& seconds,
                                        Progress& progress) {
    const Stopwatch start;
    const Dataset fitting = data.subset(data_split.learn), setting = data.subset(data_split.level);
    CalibrationRun finder(fitting, options, progress), setter(setting, options, progress);
    for (double& time : seconds) time += start.seconds() / static_cast<double>(options.size());
    auto calibrators = setter.set_thresholds(options, finder.find_regions(options, false, seconds), seconds);
    for (Calibrator& calibrator : calibrators) {
        calibrator.images += finder.census().images;
        calibrator.groups += finder.census().groups;
        for (std::size_t i = 0; i < 2; ++i) calibrator.fingerprint[i] += finder.census().fingerprint[i];
    }
    return calibrators;
}
/// One walk, block by block, and a calibrator for each method from the same counts.
std::vector<Calibrator> sketch_all(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                   Progress& progress, std::vector<double>* seconds) {
    constexpr std::size_t kBlock = 64;
    const Stopwatch start;
    Sketch sketch(data.grid(), data.classes(), options.front());
    const Dataset own = data.by_itself();
    for (std::size_t begin = 0; begin < data.images(); begin += kBlock) {
        std::vector<std::uint32_t> block(std::min(kBlock, data.images() - begin));
        std::iota(block.begin(), block.end(), static_cast<std::uint32_t>(begin));
        sketch.add(own.subset(block), progress);
    }
    sketch.add_up(data.team().comm);
    const double reading = start.seconds() / static_cast<double>(options.size());
    std::vector<Calibrator> calibrators;
    if (seconds != nullptr) seconds->clear();
    for (const CalibrateOptions& one : options) {
        const Stopwatch clock;
        calibrators.push_back(sketch.finish(one, progress));
        if (seconds != nullptr) seconds->push_back(reading + clock.seconds());
    }
    return calibrators;
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
        wanted.push_back(effective(one));
    }
    if (wanted.front().sketch > 0) return sketch_all(data, wanted, progress, seconds);
    // Three kinds: hard methods share their walks over the data; soft ones divide the images and make their
    // curves themselves; and where something is to be chosen, each stratum may be of either kind.
    enum class Kind { hard, soft, chosen };
    const auto kind_of = [](const CalibrateOptions& one) {
        if (has_choice(one)) return Kind::chosen;
        return method(one.method).fit_curves ? Kind::soft : Kind::hard;
    };
    const auto any = [&](Kind kind) {
        return std::any_of(wanted.begin(), wanted.end(),
                           [&](const auto& one) { return kind_of(one) == kind; });
    };
    const Stopwatch start;
    std::optional<DataSplit> data_split;
    const double share = wanted.front().split;
    if (share > 0) {
        Communicator& comm = data.team().comm;
        const std::uint64_t groups = total(comm, data.groups());
        data_split = split_groups(data, wanted.front(), groups, progress);
        data_split->nobody_learns = total(comm, data_split->learn.size()) == 0;
        data_split->nobody_levels = total(comm, data_split->level.size()) == 0;
        if ((data_split->nobody_learns || data_split->nobody_levels) &&
            (any(Kind::hard) || any(Kind::chosen)))
            fail(ErrorKind::usage, "--split {} of {} {} leaves one side empty", share, groups,
                 data.grouped() ? "groups" : "images");
    }
    const DataSplit* const parts = data_split ? &*data_split : nullptr;
    std::vector<CalibrateOptions> hard, open;
    for (const CalibrateOptions& one : wanted) {
        if (kind_of(one) == Kind::hard) hard.push_back(one);
        if (kind_of(one) == Kind::chosen) open.push_back(one);
    }
    std::optional<CalibrationRun> whole;
    // Methods that look at every pixel's curve, and the one whose regions are the pixels.
    const bool pixels_next = !data_split && std::any_of(hard.begin(), hard.end(), [](const auto& one) {
        return method(one.method).uses_features || method(one.method).pixelwise;
    });
    if ((!hard.empty() && !data_split) || any(Kind::soft)) whole.emplace(data, wanted, progress, pixels_next);
    const double reading = start.seconds() / static_cast<double>(wanted.size());

    std::vector<double> hard_seconds(hard.size(), 0.0), chosen_seconds;
    std::vector<Calibrator> made, chosen;
    if (!hard.empty())
        made = data_split
                   ? calibrate_split(data, hard, *data_split, hard_seconds, progress)
                   : whole->set_thresholds(hard, whole->find_regions(hard, true, hard_seconds), hard_seconds);
    if (!open.empty()) chosen = calibrate_by_stratum(data, open, parts, chosen_seconds, progress);
    std::vector<Calibrator> calibrators;
    std::vector<double> times;
    for (std::size_t m = 0, h = 0, c = 0; m < wanted.size(); ++m) {
        const Stopwatch own;
        switch (kind_of(wanted[m])) {
            case Kind::soft:
                calibrators.push_back(whole->calibrate_soft(wanted[m], parts));
                times.push_back(reading + own.seconds());
                break;
            case Kind::chosen:
                calibrators.push_back(std::move(chosen[c]));
                times.push_back(reading + chosen_seconds[c++]);
                break;
            case Kind::hard:
                calibrators.push_back(std::move(made[h]));
                times.push_back(reading + hard_seconds[h++]);
        }
    }
    if (seconds != nullptr) *seconds = std::move(times);
    return calibrators;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front());
}

}  // namespace kandinsky
