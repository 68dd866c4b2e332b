#include <algorithm>
#include <cmath>
#include <kandinsky/calibrator.hpp>
#include <numeric>

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

bool is_pixelwise(const Partition& partition) {
    for (std::size_t p = 0; p < partition.region.size(); ++p)
        if (partition.region[p] != p) return false;
    return partition.regions == partition.region.size();
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
                one.pooling != common_.pooling)
                fail(ErrorKind::internal,
                     "[calibrate_all] the methods must share score, condition, quantiles and pooling");
        census_ = take_census(data, common_.condition, progress);
        const std::uint64_t total =
            std::accumulate(census_.totals.begin(), census_.totals.end(), std::uint64_t{0});
        if (total == 0)
            fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to calibrate on",
                 data.options().labels_name);
    }

    /// One calibrator per method; `seconds` gets the time of each, the walk over the pixels divided evenly.
    std::vector<Calibrator> fit(const std::vector<CalibrateOptions>& options, std::vector<double>& seconds) {
        const Stopwatch start;
        std::vector<std::vector<Partition>> partitions(options.size());
        bool features = false;
        std::size_t pixelwise_curves = 0;
        // Methods that do not look at curves go first: they tell whether the walk over the pixels must keep
        // the curves.
        for (std::size_t m = 0; m < options.size(); ++m) {
            if (method(options[m].method).share) continue;  // walks over the data itself
            if (method(options[m].method).uses_features) {
                features = true;
                continue;
            }
            partitions[m] = regions(options[m]);
            if (is_pixelwise(partitions[m].front())) pixelwise_curves = curve_count(partitions[m]);
        }
        PixelPassResult pixels;
        if (features || pixelwise_curves > 0)
            pixels = pixel_pass(data_, census_,
                                {.condition = common_.condition,
                                 .score = common_.score,
                                 .quantiles = features ? common_.quantiles : std::vector<double>{},
                                 .curves = pixelwise_curves > 0,
                                 .rule = rule_for(common_, pixelwise_curves)},
                                progress_);
        features_ = std::move(pixels.features);
        seconds.assign(options.size(), start.seconds() / static_cast<double>(options.size()));
        std::vector<Calibrator> calibrators;
        for (std::size_t m = 0; m < options.size(); ++m) {
            const Stopwatch begin;
            if (method(options[m].method).share) {
                calibrators.push_back(share(options[m]));
            } else {
                if (partitions[m].empty()) partitions[m] = regions(options[m]);
                std::vector<CurveSet> curves = curves_of(options[m], partitions[m], pixels.curves);
                calibrators.push_back(finish(options[m], std::move(partitions[m]), std::move(curves)));
            }
            seconds[m] += begin.seconds();
        }
        return calibrators;
    }

  private:
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

    RegionPassRequest request_for(const CalibrateOptions& options, std::size_t curves) const {
        return {.condition = options.condition,
                .score = options.score,
                .rule = rule_for(options, curves),
                .budget = options.memory};
    }

    std::vector<CurveSet> curves_of(const CalibrateOptions& options, const std::vector<Partition>& partitions,
                                    const std::vector<CurveSet>& pixel_curves) {
        if (!pixel_curves.empty() && is_pixelwise(partitions.front())) return pixel_curves;
        return region_pass(data_, census_, partitions, request_for(options, curve_count(partitions)),
                           progress_);
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
                                         .seed = options.seed,
                                         .settings = &options.settings,
                                         .progress = progress_});
            partitions.push_back(std::move(soft.partition));
            curves.push_back(std::move(soft.curves));
        }
        return finish(options, std::move(partitions), std::move(curves));
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
};
}  // namespace

std::vector<Calibrator> calibrate_all(const Dataset& data, const std::vector<CalibrateOptions>& options,
                                      Progress& progress, std::vector<double>* seconds) {
    if (options.empty()) fail(ErrorKind::usage, "there is no method to calibrate with");
    std::vector<CalibrateOptions> wanted;
    for (const CalibrateOptions& one : options) {
        (void)method(one.method);  // unknown names are told before any work
        wanted.push_back(effective(one));
    }
    const Stopwatch start;
    Run run(data, wanted, progress);
    const double reading = start.seconds();
    std::vector<double> own;
    std::vector<Calibrator> calibrators = run.fit(wanted, own);
    if (seconds != nullptr) {
        *seconds = own;
        for (double& time : *seconds) time += reading / static_cast<double>(wanted.size());
    }
    return calibrators;
}

Calibrator calibrate(const Dataset& data, const CalibrateOptions& options, Progress& progress) {
    return std::move(calibrate_all(data, {options}, progress).front());
}

}  // namespace kandinsky
