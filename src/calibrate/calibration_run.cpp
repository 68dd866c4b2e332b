#include "calibrate/calibration_run.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "core/kernel/hash.hpp"
#include "core/team/team.hpp"
#include "curve/group_weights.hpp"
#include "curve/pixel_pass.hpp"

namespace kandinsky {

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

Partition whole_image(const Grid& grid) {
    return {.region = std::vector<std::uint32_t>(grid.pixels(), 0), .regions = 1};
}

namespace {
/// Whether some region has too few scores of a class that has scores.
bool needs_fallback(const Calibrator& calibrator) {
    for (const CurveSet& curves : calibrator.curves) {
        bool short_of = false, others = false;
        for (std::size_t r = 0; r < curves.size(); ++r) {
            short_of = short_of || curves.scores(r) < calibrator.options.min_count;
            others = others || curves.scores(r) > 0;
        }
        if (short_of && others) return true;
    }
    return false;
}
}  // namespace

CalibrateOptions effective(CalibrateOptions options) {
    if (options.released && options.score == CalibrateOptions{}.score) options.score = {};
    if (options.released && options.score.kind != ScoreKind::lac)
        fail(ErrorKind::usage, "`compat released` has the score lac only, but `score` is {}",
             name_of(options.score.kind));
    if (options.score.randomized) options.score.seed = options.seed;
    check_score(options.score);
    if (options.released) {  // the released code fixes these
        options = paper_settings(std::move(options));
        options.score.half = true;
        for (double& level : options.quantiles) level = std::floor(level * 100 + 0.5) / 99.0;
    }
    // A fallback curve has no guarantee. Without a fallback, the class is in every set of a region without
    // scores, so the guarantee holds.
    if (options.fallback == Fallback::automatic && options.pooling == Pooling::groups)
        options.fallback = Fallback::none;
    if (options.quantiles.empty()) fail(ErrorKind::usage, "`quantiles` needs at least one level");
    for (const double level : options.quantiles)
        if (!(level >= 0 && level <= 1))
            fail(ErrorKind::usage, "`quantiles` has {}, but levels lie in [0, 1]", level);
    if (options.promise == Promise::leave_one_out) {
        if (options.split > 0)
            fail(ErrorKind::usage, "`promise loo` learns from all groups: leave `split` out");
        if (options.pooling != Pooling::groups)
            fail(ErrorKind::usage, "`promise loo` needs `pooling groups`");
    }
    if (options.adapt == Adapt::image) {
        if (options.pooling != Pooling::groups || options.released)
            fail(ErrorKind::usage, "`adapt image` needs `pooling groups`");
        if (options.method.name == kAutoMethod)
            fail(ErrorKind::usage,
                 "`adapt image` needs a given method, but the method is auto; use `method field`");
    }
    if (!options.weights.none()) {
        if (options.pooling != Pooling::groups || options.released)
            fail(ErrorKind::usage, "weights belong to groups, so they need `pooling groups`");
        if (options.fallback == Fallback::image)
            fail(ErrorKind::usage,
                 "with weights, regions on the image-wide curve would have no guarantee; leave out "
                 "`fallback image`");
    }
    if (!(options.split >= 0 && options.split < 1))
        fail(ErrorKind::usage, "`split` is {}, but must be a share of the groups, at least 0 and below 1",
             options.split);
    if (options.rungs == 1 || options.rungs > 100000)
        fail(ErrorKind::usage, "`rungs` is {}, but must be 2 to 100000", options.rungs);
    return options;
}

namespace {
/// The largest number of groups for which --promise auto is `loo`, for methods that learn quickly and for the
/// other methods.
constexpr std::uint64_t kMostLeftOut = 200, kMostRefits = 20;
/// The number of groups that set the thresholds in a split: the mass at infinity is then about 1/100.
constexpr std::uint64_t kLevelGroups = 100;
/// With small weights more groups must set the thresholds; this is their largest share.
constexpr double kMostLevels = 0.75;

bool learns_quickly(const Method& how) {
    return how.fit_curves || !how.uses_labels;
}
}  // namespace

CalibrateOptions with_promise(CalibrateOptions options, std::uint64_t groups, double share) {
    const bool open = options.method.name == kAutoMethod;
    if (options.split > 0) options.promise = Promise::split;
    const bool adapts = options.adapt == Adapt::image;  // then shifts are learnt
    if (!open && !adapts && !method(options.method.name).uses_labels) {
        options.promise = Promise::none;
        options.split = 0;
    }
    if (options.promise == Promise::automatic) {
        if (options.pooling == Pooling::pixels || options.released)
            options.promise = Promise::none;
        else if (groups <=
                 (!open && learns_quickly(method(options.method.name)) ? kMostLeftOut : kMostRefits))
            options.promise = Promise::leave_one_out;
        else
            options.promise = Promise::split;
        if (options.promise == Promise::split && groups > kMostLeftOut)
            options.split =
                1 - std::min(options.weights.none() ? 1.0 : kMostLevels,
                             static_cast<double>(kLevelGroups) / share / static_cast<double>(groups));
    }
    if (options.promise == Promise::split && options.split == 0) options.split = 0.5;
    return options;
}

void resolve_fallback(Calibrator& calibrator) {
    Fallback& fallback = calibrator.options.fallback;
    if (fallback == Fallback::automatic)
        fallback = needs_fallback(calibrator) ? Fallback::image : Fallback::none;
}

void assign_levels(Calibrator& calibrator) {
    const std::size_t pixels = calibrator.grid.pixels();
    calibrator.levels.assign(calibrator.strata() * pixels, CurveLevel::region);
    const bool image = calibrator.options.fallback == Fallback::image;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const CurveSet& curves = calibrator.curves[s];
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) {
            if (smooth->without_data())
                std::fill_n(calibrator.levels.begin() + static_cast<std::ptrdiff_t>(s * pixels), pixels,
                            CurveLevel::none);
            continue;
        }
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

Partition fit_region(const CalibrateOptions& options, PartitionInput input, Progress& progress) {
    input.seed = options.seed;
    input.released = options.released;
    input.settings = &options.method.settings;
    input.progress = &progress;
    Partition found = method(options.method.name).fit(input);
    if (progress.cancelled()) throw Interrupted();
    return found;
}

CalibrationRun::CalibrationRun(const Dataset& data, const std::vector<CalibrateOptions>& options,
                               Progress& progress, PixelScan wanted)
    : data_(data), progress_(progress), common_(options.front()), wanted_(wanted) {
    for (const CalibrateOptions& one : options)
        if (one.condition != common_.condition || one.score != common_.score ||
            one.quantiles != common_.quantiles || one.released != common_.released ||
            one.pooling != common_.pooling || one.rungs != common_.rungs || one.split != common_.split ||
            one.promise != common_.promise)
            fail(ErrorKind::usage,
                 "options of one score, promise and split that are calibrated together must agree in "
                 "`condition`, `quantiles`, `pooling`, `rungs` and `released`; call calibrate() for each");
    if (wanted.any() && !team_of(data).counts()) {
        gathered_ = std::make_unique<PixelRows>(data, common_.condition, common_.score);
        if (!gathered_->visit_census(common_.memory)) gathered_.reset();
    }
    weights_ = units_of_groups(data, common_.weights);
    census_ = take_census(data, common_.condition, progress, gathered_.get());
    const std::uint64_t total =
        std::accumulate(census_.totals.begin(), census_.totals.end(), std::uint64_t{0});
    if (total == 0)
        fail(ErrorKind::data, "{}: every pixel is ignored, so there is nothing to calibrate on",
             data.options().labels_name);
}

void CalibrationRun::find_features() {
    if (features_.empty())
        scan_pixels({.features = true}, rule_for(common_, census_.strata * data_.grid().pixels()));
}

Partition CalibrationRun::region_of(const CalibrateOptions& options, std::size_t stratum) {
    progress_.update(options.method.name, stratum, census_.strata);
    const Method& how = method(options.method.name);
    const std::size_t pixels = data_.grid().pixels(), features = common_.quantiles.size();
    PartitionInput input;
    input.grid = data_.grid();
    input.stratum = static_cast<std::uint32_t>(stratum);
    input.strata = census_.strata;
    if (how.uses_features) {
        input.feature_count = features;
        input.features = std::span(features_).subspan(stratum * pixels * features, pixels * features);
    }
    input.counts = std::span(census_.counts).subspan(stratum * pixels, pixels);
    input.team = &team_of(data_);
    Partition found = fit_region(options, input, progress_);
    check_same(team_of(data_).comm,
               hash_bytes(found.region.data(), found.region.size() * sizeof(std::uint32_t), found.regions),
               "the regions");
    return found;
}

const std::vector<std::vector<ImageFeatures>>& CalibrationRun::image_features() {
    if (image_features_.empty()) image_features_ = features_of(data_, common_.condition, progress_);
    return image_features_;
}

std::vector<SoftCurves> CalibrationRun::soft_curves(const CalibrateOptions& options,
                                                    std::vector<std::uint32_t> strata,
                                                    const DataSplit* data_split, const Ladder& ladder) {
    return method(options.method.name)
        .fit_curves({.data = data_,
                     .census = census_,
                     .condition = options.condition,
                     .score = options.score,
                     .strata = std::move(strata),
                     .pooling = options.pooling,
                     .ladder = ladder,
                     .data_split = data_split,
                     .leave_one_out = options.promise == Promise::leave_one_out,
                     .features = options.adapt == Adapt::image ? &image_features() : nullptr,
                     .weights = options.weights.none() ? nullptr : &options.weights,
                     .seed = options.seed,
                     .memory = options.memory,
                     .settings = &options.method.settings,
                     .progress = progress_});
}

CurveRule CalibrationRun::weighed(CurveRule rule) const {
    if (!weights_.empty()) rule.weights = &weights_;
    return rule;
}

std::vector<CurveSet> CalibrationRun::region_curves(const std::vector<Partition>& partitions,
                                                    const CurveRule& rule) {
    const RegionPassRequest request{.condition = common_.condition,
                                    .score = common_.score,
                                    .rule = weighed(rule),
                                    .budget = common_.memory};
    return region_pass(data_, census_, partitions, request, progress_);
}

std::vector<CurveSet> CalibrationRun::pixel_curves(const CurveRule& rule) {
    if (pixel_curves_.empty() || pixel_curves_.front().ladder().levels != rule.ladder.levels)
        scan_pixels({.curves = true}, rule);
    return std::exchange(pixel_curves_, {});
}

/// Computes what is requested and, in the same pass, what was announced.
void CalibrationRun::scan_pixels(PixelScan now, const CurveRule& rule) {
    const std::unique_ptr<PixelRows> gathered = std::move(gathered_);
    const PixelScan wanted = std::exchange(wanted_, {});
    const bool features = now.features || wanted.features, curves = now.curves || wanted.curves;
    PixelPassResult result = pixel_pass(data_, census_,
                                        {.condition = common_.condition,
                                         .score = common_.score,
                                         .quantiles = features ? common_.quantiles : std::vector<double>{},
                                         .curves = curves,
                                         .rule = weighed(rule),
                                         .budget = common_.memory,
                                         .gathered = gathered.get()},
                                        progress_);
    if (features) features_ = std::move(result.features);
    if (curves) pixel_curves_ = std::move(result.curves);
}

Calibrator CalibrationRun::finish(const CalibrateOptions& options, std::vector<Partition> partitions,
                                  std::vector<CurveSet> curves, std::vector<SmoothCurves> smooth) {
    Calibrator calibrator;
    calibrator.options = options;
    calibrator.grid = data_.grid();
    calibrator.classes = data_.classes();
    calibrator.images = census_.images;
    calibrator.groups = census_.groups;
    calibrator.grouped = data_.grouped();
    calibrator.masks = data_.overlapping();
    calibrator.classless = census_.classless > 0;
    calibrator.fingerprint = census_.fingerprint;
    calibrator.version = KANDINSKY_VERSION;
    calibrator.counts = census_.counts;
    calibrator.curves = std::move(curves);
    calibrator.smooth = std::move(smooth);
    resolve_fallback(calibrator);
    if (calibrator.options.fallback == Fallback::image) {
        CurveRule rule = rule_for(options, 0);
        rule.ladder = calibrator.curves.front().ladder();  // one ladder for all curves of a calibrator
        const std::vector<CurveSet> image =
            region_curves(std::vector<Partition>(census_.strata, whole_image(data_.grid())), rule);
        for (std::size_t s = 0; s < census_.strata; ++s)
            if (calibrator.smooth_of(s) == nullptr) calibrator.curves[s].append(image[s]);
    }
    calibrator.partitions = std::move(partitions);
    assign_levels(calibrator);
    return calibrator;
}

}  // namespace kandinsky
