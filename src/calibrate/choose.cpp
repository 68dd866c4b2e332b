#include "calibrate/choose.hpp"
#include "calibrate/choice_label.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <numeric>

#include "calibrate/calibration_run.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/kernel/hash.hpp"
#include "core/team/team.hpp"
#include "partition/cells.hpp"
#include "partition/folds.hpp"
#include "partition/histograms.hpp"
#include "partition/smooth.hpp"
#include "partition/soft_method.hpp"

namespace kandinsky {

namespace {
using partition::Cells;
using partition::FoldHistograms;
using partition::Plane;
using partition::ScoreGrid;

constexpr std::size_t kFolds = 5, kBins = 128;
constexpr std::size_t kTask = 64;  ///< pixels judged by one task

/// The scores from which contenders learn: those of all folds except one.
class TrainingPart {
  public:
    TrainingPart(const Grid& grid, const FoldHistograms& histograms, std::size_t fold)
        : grid_(grid), bins_(histograms.bins()), counts_(grid.pixels() * bins_), totals_(grid.pixels()) {
        parallel_for(grid.height, [&](std::size_t y) {
            for (std::size_t p = y * grid.width; p < (y + 1) * grid.width; ++p)
                totals_[p] = histograms.without(p, fold, {counts_.data() + p * bins_, bins_});
        });
    }

    [[nodiscard]] bool empty() const {
        return std::all_of(totals_.begin(), totals_.end(), [](std::uint32_t n) { return n == 0; });
    }
    [[nodiscard]] std::size_t bins() const { return bins_; }
    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] const std::vector<std::uint32_t>& totals() const { return totals_; }
    [[nodiscard]] const std::uint32_t* at(std::size_t pixel) const { return counts_.data() + pixel * bins_; }

    /// Every pixel's curve at the given levels. Values are interpolated within the bins.
    [[nodiscard]] std::vector<float> features(const ScoreGrid& scores,
                                              const std::vector<double>& levels) const {
        std::vector<float> out(grid_.pixels() * levels.size());
        parallel_for(grid_.pixels(), [&](std::size_t p) {
            if (totals_[p] == 0) return;
            for (std::size_t q = 0; q < levels.size(); ++q) {
                const double rank = levels[q] * (totals_[p] - 1) + 0.5;
                double below = 0;
                std::size_t b = 0;
                while (b + 1 < bins_ && below + at(p)[b] <= rank) below += at(p)[b++];
                const double from = b > 0 ? scores.edges()[b - 1] : scores.origin(), to = scores.edges()[b];
                const double share = at(p)[b] > 0 ? std::min(1.0, (rank - below) / at(p)[b]) : 1.0;
                out[p * levels.size() + q] =
                    score_on_scale(static_cast<std::int32_t>(from + (to - from) * share));
            }
        });
        return out;
    }

    /// The weights of the loss, [pixel][bin]: the increments of the pilot (choose.hpp), or of the image's
    /// distribution where the pilot has no data.
    [[nodiscard]] Plane pilot() const {
        Plane votes(grid_, bins_), out(grid_, bins_);
        std::vector<double> image(bins_);
        for (std::size_t p = 0; p < grid_.pixels(); ++p)
            for (std::size_t b = 0; b < bins_; ++b) {
                votes.at(p)[b] = static_cast<float>(at(p)[b]) / (static_cast<float>(totals_[p]) + 2);
                image[b] += at(p)[b];
            }
        const double all = std::accumulate(image.begin(), image.end(), 0.0);
        partition::Pyramid pyramid(std::move(votes));
        const partition::Smooth smooth(pyramid, std::max(0.5, grid_.height / 40.0));
        parallel_for(grid_.height, [&](std::size_t y) {
            for (std::size_t x = 0; x < grid_.width; ++x) {
                float* const own = out.at(y * grid_.width + x);
                smooth.at(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x), own);
                const double sum = std::accumulate(own, own + bins_, 0.0);
                for (std::size_t b = 0; b < bins_; ++b)
                    own[b] = static_cast<float>(sum > 0 ? own[b] / sum : image[b] / all);
            }
        });
        return out;
    }

  private:
    Grid grid_;
    std::size_t bins_;
    std::vector<std::uint32_t> counts_, totals_;
};

/// The level at which the threshold of a contender with regions passes each bin, [region][bin].
class RegionLevels {
  public:
    RegionLevels(const TrainingPart& part, Partition partition, const CalibrateOptions& options)
        : bins_(part.bins()), region_(std::move(partition.region)) {
        const std::size_t regions = partition.regions;
        std::vector<std::uint64_t> sums((regions + 1) * bins_), totals(regions + 1);
        for (std::size_t p = 0; p < region_.size(); ++p)
            for (const std::size_t r : {std::size_t{region_[p]}, regions}) {  // the last one is the image
                totals[r] += part.totals()[p];
                for (std::size_t b = 0; b < bins_; ++b) sums[r * bins_ + b] += part.at(p)[b];
            }
        levels_.resize(sums.size());
        for (std::size_t r = 0; r <= regions; ++r) {
            std::uint64_t sum = 0;
            const double whole = static_cast<double>(totals[r] + (options.released ? 0 : 1));
            for (std::size_t b = 0; b < bins_; ++b) {
                sum += sums[r * bins_ + b];
                levels_[r * bins_ + b] =
                    totals[r] > 0 ? static_cast<float>(static_cast<double>(sum) / whole) : 0.0f;
            }
        }
        if (options.fallback != Fallback::none)
            for (std::uint32_t& r : region_)
                if (totals[r] < options.min_count) r = static_cast<std::uint32_t>(regions);
    }
    [[nodiscard]] const float* at(std::size_t pixel) const { return levels_.data() + region_[pixel] * bins_; }

  private:
    std::size_t bins_;
    std::vector<std::uint32_t> region_;
    std::vector<float> levels_;
};

Partition find_regions(const Contender& one, const TrainingPart& part, const std::vector<float>& features,
                       const CalibrateOptions& options, std::uint32_t stratum, Progress& progress) {
    CalibrateOptions own = options;
    own.method.name = one.method->name;
    own.method.settings = one.settings;
    Muted muted(progress);
    // Every rank makes quick fits itself, because sharing them would cost more than the work.
    return fit_region(own,
                      {.grid = part.grid(),
                       .stratum = stratum,
                       .feature_count = one.method->uses_features ? options.quantiles.size() : 0,
                       .features = one.method->uses_features ? std::span(features) : std::span<const float>(),
                       .counts = part.totals(),
                       .quick = true},
                      muted);
}

/// The mean over the judged pixels of the weighted squared error. Each task writes its own sum, and the sums
/// are added in order.
template <class At>
double mean_loss(const std::vector<std::size_t>& pixels, const FoldHistograms& histograms, std::size_t fold,
                 const Plane& pilot, At&& at) {
    const std::size_t tasks = (pixels.size() + kTask - 1) / kTask;
    std::vector<double> parts(tasks);
    parallel_for(tasks, [&](std::size_t task) {
        for (std::size_t i = task * kTask; i < std::min(pixels.size(), (task + 1) * kTask); ++i) {
            const std::size_t p = pixels[i];
            const auto judge = histograms.judge(p, fold);
            const double whole = static_cast<double>(partition::total_of(judge));
            const float* const levels = at(p);
            const float* const weights = pilot.at(p);
            std::uint64_t sum = 0;
            for (std::size_t b = 0; b < judge.size(); ++b) {
                sum += judge[b];
                const double error = static_cast<double>(levels[b]) - static_cast<double>(sum) / whole;
                parts[task] += static_cast<double>(weights[b]) * error * error;
            }
        }
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(pixels.size());
}

/// The losses on one stratum from its counts.
CrossLoss judge(const FoldHistograms& histograms, const ScoreGrid& scores, const Cells& cells,
                const CalibrateOptions& options, std::uint32_t stratum, const std::vector<Contender>& all,
                Progress& progress) {
    CrossLoss result{.loss = std::vector<double>(all.size()), .folds = 0};
    std::vector<CrossFit> soft(all.size());
    for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k].method->cross_fit)
            soft[k] = all[k].method->cross_fit({.cells = cells,
                                                .histograms = histograms,
                                                .settings = &all[k].settings,
                                                .progress = progress});
    const bool features_wanted =
        std::any_of(all.begin(), all.end(), [](const Contender& one) { return one.method->uses_features; });
    for (std::size_t fold = 0; fold < histograms.folds(); ++fold) {
        const std::vector<std::size_t> pixels = partition::judged_cells(histograms, fold);
        const TrainingPart part(cells.grid(), histograms, fold);
        if (pixels.empty() || part.empty()) continue;
        const std::vector<float> features =
            features_wanted ? part.features(scores, options.quantiles) : std::vector<float>{};
        const Plane pilot = part.pilot();
        // Contenders are evaluated in parallel, because most searches for regions use one thread.
        parallel_for(all.size(), [&](std::size_t k) {
            const auto add = [&](const auto& levels) {
                result.loss[k] +=
                    mean_loss(pixels, histograms, fold, pilot, [&](std::size_t p) { return levels.at(p); });
            };
            if (soft[k].without)
                add(soft[k].without(fold));
            else
                add(RegionLevels(part, find_regions(all[k], part, features, options, stratum, progress),
                                 options));
        });
        ++result.folds;
    }
    for (double& loss : result.loss) loss /= static_cast<double>(std::max<std::size_t>(1, result.folds));
    return result;
}
}  // namespace

std::vector<CrossLoss> cross_losses(const Dataset& data, const Census& census,
                                    const CalibrateOptions& options, const std::vector<Contender>& all,
                                    Progress& progress) {
    std::vector<CrossLoss> results(census.strata, {.loss = std::vector<double>(all.size()), .folds = 0});
    const Cells cells(data.grid());
    SoftInput input{.data = data,
                    .census = census,
                    .condition = options.condition,
                    .score = options.score,
                    .strata = {},
                    .ladder = {},
                    .seed = options.seed,
                    .memory = options.memory,
                    .settings = &options.method.settings,
                    .progress = progress};
    input.strata.resize(census.strata);
    std::iota(input.strata.begin(), input.strata.end(), 0u);
    const partition::Folds folds =
        partition::make_folds(data, census.image_hash, kFolds, partition::FoldOrder::content, options.seed);
    for (const std::vector<std::uint32_t>& strata :
         partition::batches_of(input, folds.count, kBins, cells.grid())) {
        const std::vector<ScoreGrid> grids = partition::make_score_grids(input, strata, kBins);
        const std::vector<FoldHistograms> histograms =
            partition::count_scores(input, strata, grids, folds, cells);
        for (std::size_t i = 0; i < strata.size(); ++i) {
            progress.update("choosing", strata[i], census.strata);
            results[strata[i]] = judge(histograms[i], grids[i], cells, options, strata[i], all, progress);
        }
    }
    for (const CrossLoss& one : results)
        check_same(team_of(data).comm, hash_bytes(one.loss.data(), one.loss.size() * sizeof(double), 0),
                   "the losses of the methods");
    return results;
}

namespace {
constexpr std::string_view kAsk = "auto";

std::string value_of(const MethodOption& option, const MethodSettings& settings) {
    const auto given = settings.text.find(option.flag);
    return given != settings.text.end() ? given->second : option.standard;
}

bool is_open(const MethodOption& option, const MethodSettings& settings) {
    return !option.trials.empty() && value_of(option, settings) == kAsk;
}

void add_contenders(const Method& method, const MethodSettings& settings, std::vector<Contender>& all) {
    std::vector<Contender> own{{.method = &method, .settings = settings, .tuned = {}}};
    for (const MethodOption& option : method.options) {
        if (!is_open(option, settings)) continue;
        std::vector<Contender> more;
        for (const Contender& one : own)
            for (const std::string& trial : option.trials) {
                more.push_back(one);
                more.back().settings.text[option.flag] = trial;
                more.back().tuned[option.flag] = trial;
            }
        own = std::move(more);
    }
    all.insert(all.end(), own.begin(), own.end());
}

/// The index of the chosen contender, and the reason.
std::pair<std::size_t, std::string> verdict(const std::vector<Contender>& all, const CrossLoss& found) {
    const auto is_soft = [](const Contender& one) { return one.method->fit_curves != nullptr; };
    if (found.folds == 0) {
        const auto soft = std::find_if(all.begin(), all.end(), is_soft);
        return {soft == all.end() ? 0 : static_cast<std::size_t>(soft - all.begin()),
                "too few images have the class for a cross-validation"};
    }
    const auto least =
        static_cast<std::size_t>(std::min_element(found.loss.begin(), found.loss.end()) - found.loss.begin());
    if (is_soft(all[least])) return {least, "it has the least loss"};
    for (std::size_t k = 0; k < all.size(); ++k)
        if (is_soft(all[k]) && found.loss[k] <= (1 + kNearTie) * found.loss[least])
            return {k, fmt::format("its loss is within {:.0f} % of the least, and it needs no regions",
                                   100 * kNearTie)};
    return {least, "it has the least loss"};
}

Choice choice_among(const std::vector<Contender>& all, const CrossLoss& found) {
    Choice choice;
    for (std::size_t k = 0; k < all.size(); ++k)
        choice.judged.push_back({all[k].method->name, all[k].tuned, found.loss[k]});
    const auto [taken, reason] = verdict(all, found);
    choice.method = all[taken].method->name;
    choice.tuned = all[taken].tuned;
    choice.reason = reason;
    choice.folds = found.folds;
    return choice;
}
}  // namespace

bool needs_array(const Method& method) {
    return std::any_of(method.options.begin(), method.options.end(),
                       [](const MethodOption& option) { return option.type == MethodOption::Type::array; });
}

std::string label_of(const std::string& method, const std::map<std::string, std::string>& tuned) {
    std::string label = method;
    for (const auto& [flag, value] : tuned) label += " " + value;
    return label;
}

bool has_choice(const CalibrateOptions& options) {
    if (options.method.name == kAutoMethod) return true;
    const Method& how = method(options.method.name);
    return std::any_of(how.options.begin(), how.options.end(),
                       [&](const MethodOption& option) { return is_open(option, options.method.settings); });
}

void settle_defaults(CalibrateOptions& options) {
    for (const Method* one : methods())
        if (options.method.name == kAutoMethod || options.method.name == one->name)
            for (const MethodOption& option : one->options)
                if (is_open(option, {})) options.method.settings.text.emplace(option.flag, option.paper);
}

std::vector<Contender> contenders(const CalibrateOptions& options) {
    std::vector<Contender> all;
    if (options.method.name != kAutoMethod) {
        add_contenders(method(options.method.name), options.method.settings, all);
    } else {
        // To choose the number of regions of each method too would cost several times as much, and methods
        // without such a number usually win.
        CalibrateOptions settled = options;
        settle_defaults(settled);
        for (const Method* one : methods())
            if (!needs_array(*one)) add_contenders(*one, settled.method.settings, all);
    }
    return all;
}

std::vector<std::vector<Choice>> choose(const Dataset& data, const Census& census,
                                        const std::vector<CalibrateOptions>& options, Progress& progress) {
    std::vector<std::vector<Contender>> own;
    std::vector<Contender> all;
    for (const CalibrateOptions& one : options) {
        own.push_back(contenders(one));
        all.insert(all.end(), own.back().begin(), own.back().end());
    }
    std::vector<std::vector<Choice>> choices(options.size());
    for (const CrossLoss& found : cross_losses(data, census, options.front(), all, progress)) {
        auto next = found.loss.begin();
        for (std::size_t m = 0; m < options.size(); ++m) {
            const auto end = next + static_cast<std::ptrdiff_t>(own[m].size());
            choices[m].push_back(choice_among(own[m], {.loss = {next, end}, .folds = found.folds}));
            next = end;
        }
    }
    return choices;
}

}  // namespace kandinsky
