#include <algorithm>
#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "calibrate/sample.hpp"
#include "core/fail.hpp"
#include "core/stopwatch.hpp"
#include "curve/pixel_pass.hpp"
#include "curve/region_pass.hpp"
#include "partition/soft_method.hpp"
#include "score/census.hpp"

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
        options.pooling = Pooling::pixels;
        options.fallback = Fallback::none;
        options.score.half = true;
        for (double& level : options.quantiles) level = std::floor(level * 100 + 0.5) / 99.0;
    }
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

CurveRule rule_for(const CalibrateOptions& options, std::size_t curves) {
    const std::size_t rungs = options.rungs > 0 ? options.rungs : curves > 1024 ? 200 : 2000;
    return {.pooling = options.pooling,
            .ladder = options.released ? Ladder::released() : Ladder::uniform(rungs),
            .released = options.released};
}

/// The images that find the regions, and those that set the thresholds; groups stay whole.
std::pair<Dataset, Dataset> split_groups(const Dataset& data, double share, const CalibrateOptions& options,
                                         Progress& progress) {
    const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(data.groups())));
    if (count == 0 || count >= data.groups())
        fail(ErrorKind::usage, "--split {} of {} {} leaves one side empty", share, data.groups(),
             data.grouped() ? "groups" : "images");
    std::vector<std::uint64_t> hashes;
    if (!data.grouped()) hashes = take_census(data, options.condition, progress).image_hash;
    const std::vector<std::uint32_t> chosen =
        draw_sample(data, hashes, count, SamplePurpose::split, options.seed, 0);
    std::vector<std::uint32_t> rest;
    for (std::uint32_t image = 0, next = 0; image < data.images(); ++image)
        if (next < chosen.size() && chosen[next] == image)
            ++next;
        else
            rest.push_back(image);
    return {data.subset(chosen), data.subset(rest)};
}

/// Whether every pixel is its own region in every stratum.
bool is_pixelwise(const std::vector<Partition>& partitions) {
    for (const Partition& partition : partitions) {
        for (std::size_t p = 0; p < partition.region.size(); ++p)
            if (partition.region[p] != p) return false;
        if (partition.regions != partition.region.size()) return false;
    }
    return true;
}

std::size_t curve_count(const std::vector<Partition>& partitions) {
    return std::accumulate(partitions.begin(), partitions.end(), std::size_t{0},
                           [](std::size_t sum, const Partition& p) { return sum + p.regions; });
}

/// The data of one calibration run, shared by all methods that are fitted to it.
class Run {
  public:
    Run(const Dataset& data, const std::vector<CalibrateOptions>& options, Progress& progress)
        : data_(data), progress_(progress), common_(options.front()) {
        for (const CalibrateOptions& one : options)
            if (one.condition != common_.condition || one.score != common_.score ||
                one.quantiles != common_.quantiles || one.released != common_.released ||
                one.pooling != common_.pooling || one.rungs != common_.rungs || one.split != common_.split)
                fail(ErrorKind::internal,
                     "[calibrate_all] the methods must share score, condition, quantiles, pooling and rungs");
        census_ = take_census(data, common_.condition, progress);
        const std::uint64_t total =
            std::accumulate(census_.totals.begin(), census_.totals.end(), std::uint64_t{0});
        if (total == 0)
            fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to calibrate on",
                 data.options().labels_name);
    }

    [[nodiscard]] const Census& census() const { return census_; }

    /// The regions that each method finds on these images, [method][stratum]. With `keep_curves`, the same
    /// walk over the pixels also keeps the curves that thresholds() would need of it.
    std::vector<std::vector<Partition>> find_regions(const std::vector<CalibrateOptions>& options,
                                                     bool keep_curves, std::vector<double>& seconds) {
        const Stopwatch start;
        std::vector<std::vector<Partition>> partitions(options.size());
        bool features = false;
        // Methods that do not look at curves go first: they tell whether the walk must keep the curves.
        for (std::size_t m = 0; m < options.size(); ++m)
            if (method(options[m].method).uses_features)
                features = true;
            else
                partitions[m] = regions(options[m]);
        walk_pixels(features, keep_curves ? partitions : std::vector<std::vector<Partition>>{});
        for (double& time : seconds) time += start.seconds() / static_cast<double>(options.size());
        for (std::size_t m = 0; m < options.size(); ++m) {
            const Stopwatch own;
            if (partitions[m].empty()) partitions[m] = regions(options[m]);
            seconds[m] += own.seconds();
        }
        return partitions;
    }

    /// The thresholds that these images set in given regions.
    std::vector<Calibrator> set_thresholds(const std::vector<CalibrateOptions>& options,
                                           std::vector<std::vector<Partition>> partitions,
                                           std::vector<double>& seconds) {
        if (pixel_curves_.empty()) walk_pixels(false, partitions);
        std::vector<Calibrator> calibrators;
        for (std::size_t m = 0; m < options.size(); ++m) {
            const Stopwatch own;
            const bool last =
                std::none_of(partitions.begin() + static_cast<std::ptrdiff_t>(m) + 1, partitions.end(),
                             [](const auto& later) { return is_pixelwise(later); });
            std::vector<CurveSet> curves = curves_of(options[m], partitions[m], last);
            calibrators.push_back(finish(options[m], std::move(partitions[m]), std::move(curves)));
            seconds[m] += own.seconds();
        }
        return calibrators;
    }

    /// A soft method makes the curves itself.
    Calibrator share(const CalibrateOptions& options) {
        const Method& how = method(options.method);
        const std::size_t pixels = data_.grid().pixels();
        const CurveRule rule = rule_for(options, census_.strata * pixels);
        std::vector<Partition> partitions;
        std::vector<CurveSet> curves;
        for (std::size_t s = 0; s < census_.strata; ++s) {
            SoftCurves soft = how.share({.data = data_,
                                         .census = census_,
                                         .condition = options.condition,
                                         .score = options.score,
                                         .stratum = static_cast<std::uint32_t>(s),
                                         .pooling = options.pooling,
                                         .ladder = rule.ladder,
                                         .released = options.released,
                                         .split = options.split,
                                         .seed = options.seed,
                                         .settings = &options.settings,
                                         .progress = progress_});
            partitions.push_back(std::move(soft.partition));
            curves.push_back(std::move(soft.curves));
        }
        return finish(options, std::move(partitions), std::move(curves));
    }

  private:
    /// One walk for the features, if wanted, and for the curves of every pixel, if some partition is
    /// pixelwise.
    void walk_pixels(bool features, const std::vector<std::vector<Partition>>& partitions) {
        std::size_t curves = 0;
        for (const std::vector<Partition>& of_method : partitions)
            if (!of_method.empty() && is_pixelwise(of_method)) curves = curve_count(of_method);
        if (!features && curves == 0) return;
        PixelPassResult result =
            pixel_pass(data_, census_,
                       {.condition = common_.condition,
                        .score = common_.score,
                        .quantiles = features ? common_.quantiles : std::vector<double>{},
                        .curves = curves > 0,
                        .rule = rule_for(common_, curves),
                        .budget = common_.memory},
                       progress_);
        features_ = std::move(result.features);
        pixel_curves_ = std::move(result.curves);
    }

    std::vector<Partition> regions(const CalibrateOptions& options) {
        const Method& how = method(options.method);
        const std::size_t pixels = data_.grid().pixels(), features = common_.quantiles.size();
        std::vector<Partition> partitions;
        for (std::size_t s = 0; s < census_.strata; ++s) {
            PartitionInput input;
            input.grid = data_.grid();
            input.stratum = static_cast<std::uint32_t>(s);
            if (how.uses_features) {
                input.feature_count = features;
                input.features = std::span(features_).subspan(s * pixels * features, pixels * features);
            }
            input.counts = std::span(census_.counts).subspan(s * pixels, pixels);
            input.seed = options.seed;
            input.released = options.released;
            input.settings = &options.settings;
            input.progress = &progress_;
            progress_.update(how.name, s, census_.strata);
            partitions.push_back(how.fit(input));
            if (progress_.cancelled()) throw Interrupted();
        }
        progress_.update(how.name, census_.strata, census_.strata);
        return partitions;
    }

    /// The exact curves of given regions; `last`: those of every pixel are not asked for again.
    std::vector<CurveSet> curves_of(const CalibrateOptions& options, const std::vector<Partition>& partitions,
                                    bool last) {
        if (!pixel_curves_.empty() && is_pixelwise(partitions))
            return last ? std::exchange(pixel_curves_, {}) : pixel_curves_;
        return region_pass(data_, census_, partitions, request_for(options, curve_count(partitions)),
                           progress_);
    }

    RegionPassRequest request_for(const CalibrateOptions& options, std::size_t curves) const {
        return {.condition = options.condition,
                .score = options.score,
                .rule = rule_for(options, curves),
                .budget = options.memory};
    }

    Calibrator finish(const CalibrateOptions& options, std::vector<Partition> partitions,
                      std::vector<CurveSet> curves) {
        Calibrator calibrator;
        calibrator.options = options;
        calibrator.grid = data_.grid();
        calibrator.classes = data_.classes();
        calibrator.images = data_.images();
        calibrator.groups = data_.groups();
        calibrator.grouped = data_.grouped();
        calibrator.fingerprint = census_.fingerprint;
        calibrator.version = KANDINSKY_VERSION;
        calibrator.counts = census_.counts;
        calibrator.curves = std::move(curves);
        if (options.fallback == Fallback::image) {
            const std::vector<Partition> whole(
                census_.strata,
                Partition{.region = std::vector<std::uint32_t>(data_.grid().pixels(), 0), .regions = 1});
            const std::vector<CurveSet> image =
                region_pass(data_, census_, whole, request_for(options, curve_count(partitions)), progress_);
            for (std::size_t s = 0; s < census_.strata; ++s) calibrator.curves[s].append(image[s]);
        }
        calibrator.partitions = std::move(partitions);
        assign_levels(calibrator);
        return calibrator;
    }

    static void assign_levels(Calibrator& calibrator) {
        const std::size_t pixels = calibrator.grid.pixels();
        calibrator.levels.assign(calibrator.strata() * pixels, CurveLevel::region);
        const bool image = calibrator.options.fallback == Fallback::image;
        for (std::size_t s = 0; s < calibrator.strata(); ++s) {
            const CurveSet& curves = calibrator.curves[s];
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint32_t region = calibrator.partitions[s].region[p];
                CurveLevel& level = calibrator.levels[s * pixels + p];
                if (image && curves.scores(region) < calibrator.options.min_count)
                    level = curves.scores(calibrator.partitions[s].regions) > 0 ? CurveLevel::image
                                                                                : CurveLevel::none;
                else if (curves.scores(region) == 0)
                    level = CurveLevel::none;
            }
        }
    }

    const Dataset& data_;
    Progress& progress_;
    CalibrateOptions common_;
    Census census_;
    std::vector<float> features_;
    std::vector<CurveSet> pixel_curves_;
};
/// Regions from some groups, thresholds from the others.
std::vector<Calibrator> calibrate_split(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                        std::vector<double>& seconds, Progress& progress) {
    const Stopwatch start;
    const auto [fitting, setting] = split_groups(data, options.front().split, options.front(), progress);
    Run finder(fitting, options, progress), setter(setting, options, progress);
    for (double& time : seconds) time += start.seconds() / static_cast<double>(options.size());
    auto calibrators = setter.set_thresholds(options, finder.find_regions(options, false, seconds), seconds);
    for (Calibrator& calibrator : calibrators) {
        calibrator.images = data.images();
        calibrator.groups = data.groups();
        for (std::size_t i = 0; i < 2; ++i) calibrator.fingerprint[i] += finder.census().fingerprint[i];
    }
    return calibrators;
}
}  // namespace

std::vector<Calibrator> calibrate_all(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                      Progress& progress, std::vector<double>* seconds) {
    if (options.empty()) fail(ErrorKind::usage, "there is no method to calibrate with");
    std::vector<CalibrateOptions> wanted;
    for (const CalibrateOptions& one : options) {
        (void)method(one.method);  // unknown names are told before any work
        wanted.push_back(effective(one));
    }
    // Soft methods split by themselves and make their own curves.
    std::vector<CalibrateOptions> hard;
    for (const CalibrateOptions& one : wanted)
        if (!method(one.method).share) hard.push_back(one);
    const bool split = wanted.front().split > 0;
    const Stopwatch start;
    std::optional<Run> whole;
    if (!split || hard.size() < wanted.size()) whole.emplace(data, wanted, progress);
    const double reading = start.seconds() / static_cast<double>(wanted.size());

    std::vector<double> hard_seconds(hard.size(), 0.0);
    std::vector<Calibrator> made;
    if (!hard.empty())
        made = split
                   ? calibrate_split(data, hard, hard_seconds, progress)
                   : whole->set_thresholds(hard, whole->find_regions(hard, true, hard_seconds), hard_seconds);
    std::vector<Calibrator> calibrators;
    std::vector<double> times;
    for (std::size_t m = 0, h = 0; m < wanted.size(); ++m) {
        const Stopwatch own;
        const bool soft = method(wanted[m].method).share != nullptr;
        calibrators.push_back(soft ? whole->share(wanted[m]) : std::move(made[h]));
        times.push_back(reading + (soft ? own.seconds() : hard_seconds[h]));
        h += soft ? 0 : 1;
    }
    if (seconds != nullptr) *seconds = std::move(times);
    return calibrators;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front());
}

}  // namespace kandinsky
