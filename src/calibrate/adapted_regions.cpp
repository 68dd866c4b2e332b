#include "calibrate/adapted_regions.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"
#include "partition/method.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "calibrate/learn_again.hpp"
#include "calibrate/leave_one_out.hpp"
#include "core/base/fail.hpp"
#include "curve/group_weights.hpp"
#include "partition/envelope.hpp"
#include "partition/region_distributions.hpp"

namespace kandinsky {

using partition::Cells;
using partition::Envelope;
using partition::Evidence;

std::uint64_t least_scores(const CalibrateOptions& options) {
    return options.fallback == Fallback::image ? options.min_count : 0;
}

namespace {
/// The input for fits of all strata.
SoftInput input_of(const CalibrateOptions& options, CalibrationRun& run, const Ladder& ladder,
                   Progress& progress) {
    SoftInput input{.data = run.data(),
                    .census = run.census(),
                    .condition = options.condition,
                    .score = options.score,
                    .strata = {},
                    .pooling = Pooling::groups,
                    .ladder = ladder,
                    .features = &run.image_features(),
                    .weights = options.weights.none() ? nullptr : &options.weights,
                    .seed = options.seed,
                    .memory = options.memory,
                    .settings = &options.method.settings,
                    .progress = progress};
    for (std::uint32_t s = 0; s < run.census().strata; ++s) input.strata.push_back(s);
    return input;
}

/// One region for each pixel.
Partition every_pixel(const Grid& grid) {
    Partition out{.region = std::vector<std::uint32_t>(grid.pixels()),
                  .regions = static_cast<std::uint32_t>(grid.pixels())};
    std::iota(out.region.begin(), out.region.end(), 0u);
    return out;
}

/// Copies the distributions of regions, `each` numbers per region, to the cells of a finer partition.
std::vector<std::uint16_t> spread_over(const std::vector<std::uint16_t>& of_region, const Partition& regions,
                                       const Partition& cells, std::size_t each) {
    std::vector<std::uint16_t> out(
        (std::size_t{*std::max_element(cells.region.begin(), cells.region.end())} + 1) * each);
    for (std::size_t p = 0; p < cells.region.size(); ++p)
        std::copy_n(of_region.begin() + static_cast<std::ptrdiff_t>(regions.region[p] * each), each,
                    out.begin() + static_cast<std::ptrdiff_t>(cells.region[p] * each));
    return out;
}

/// Merges cells that have the same distribution; returns the partition into the merged cells.
Partition merge_alike(SmoothStorage& storage) {
    const std::size_t each = storage.edges.size() - 1;
    Partition out{.region = std::vector<std::uint32_t>(storage.region.size())};
    std::map<std::vector<std::uint16_t>, std::uint32_t> number;
    std::vector<std::uint16_t> kept;
    for (std::size_t p = 0; p < out.region.size(); ++p) {
        const auto own = storage.cumulative.begin() + static_cast<std::ptrdiff_t>(storage.region[p] * each);
        const std::vector<std::uint16_t> row(own, own + static_cast<std::ptrdiff_t>(each));
        const auto [at, fresh] = number.emplace(row, static_cast<std::uint32_t>(number.size()));
        if (fresh) kept.insert(kept.end(), row.begin(), row.end());
        out.region[p] = at->second;
    }
    out.regions = static_cast<std::uint32_t>(number.size());
    storage.region = out.region;
    storage.cumulative = std::move(kept);
    return out;
}

/// Repeats learning without each group in turn.
class AdaptedRelearner {
  public:
    AdaptedRelearner(const CalibrateOptions& options, const std::vector<Choice>& choices, CalibrationRun& run,
                     Progress& progress)
        : options_(options),
          run_(run),
          progress_(progress),
          learns_(method(options.method.name).uses_labels),
          input_(input_of(options, run, {}, progress)) {
        const Dataset& data = run.data();
        places_ = partition::make_folds(data, run.census().image_hash, 2, partition::FoldOrder::content,
                                        options.seed)
                      .place;
        if (method(options.method.name).uses_features) run.find_features();
        State state;
        for (std::uint32_t s = 0; s < strata(); ++s) {
            all_.push_back(run.census().totals[s] > 0 ? run.region_of(settled(options, choices[s]), s)
                                                      : whole_image(data.grid()));
            cells_.push_back(learns_ ? every_pixel(data.grid()) : all_[s]);
            judges_.push_back(
                std::make_unique<partition::SmoothJudge>(data, options.score, Cells(data.grid(), cells_[s])));
            envelopes_.push_back(
                judges_[s]->start(Adapt::image, run.census().groups,
                                  units_by_place(data, options.weights, places_, run.census().groups)));
        }
        for (Envelope& one : envelopes_)
            for (const std::span<std::byte> bytes : one.state()) state.push_back(bytes);
        evidence_ = partition::gather_evidence(input_, input_.strata, places_);
        const auto work = [&](std::size_t first, std::size_t last) {
            for (std::size_t g = first; g < last; ++g) {
                progress_.update("leaving groups out", g, run.census().groups);
                if (progress_.cancelled()) throw Interrupted();
                learn_without(static_cast<std::uint32_t>(g));
            }
        };
        accumulate(team_of(data), "leaving groups out", run.census().groups, state, work, 1);
    }

    [[nodiscard]] std::size_t strata() const { return run_.census().strata; }

    /// The curves of a stratum. Cells with equal distributions are merged into one region (a piece).
    [[nodiscard]] SoftCurves made(std::uint32_t stratum, const Ladder& ladder) {
        const Grid grid = run_.data().grid();
        const std::optional<Fit> whole = fit(stratum, Evidence::kNobody, all_[stratum]);
        if (!whole) return partition::regions_without_data(grid, whole_image(grid), ladder);
        SoftCurves out;
        SmoothStorage storage;
        out.adaptation = judges_[stratum]->adapted_curves(envelopes_[stratum], ladder, storage);
        storage.scores = run_.census().totals[stratum];
        out.partition = merge_alike(storage);
        nlohmann::ordered_json geometry = nlohmann::ordered_json::parse(all_[stratum].geometry);
        geometry["pieces"] = out.partition.regions;
        geometry["adapt"] = nlohmann::ordered_json::parse(partition::describe(whole->shift));
        out.partition.geometry = geometry.dump();
        out.curves = smooth_from(grid, ladder, std::move(storage));
        return out;
    }

  private:
    /// The distributions of a stratum from all groups except one, and the shift that these groups give.
    struct Fit {
        partition::ScoreGrid grid;
        partition::FoldDistributions distributions;
        partition::LearntShift shift;
    };

    [[nodiscard]] std::optional<Fit> fit(std::size_t s, std::uint32_t left_out,
                                         const Partition& regions) const {
        const Dataset& data = run_.data();
        const std::optional<partition::ScoreGrid> grid =
            evidence_[s].grid(left_out, data.grid().pixels(), largest_score(options_.score, data.classes()),
                              partition::kRegionBins);
        if (!grid) return std::nullopt;
        const partition::Folds folds =
            partition::folds_without(partition::kRegionFolds, run_.census().groups, left_out);
        const Cells cells(data.grid(), regions);
        Fit out{*grid,
                partition::region_distributions(evidence_[s].count_regions(left_out, *grid, folds, cells),
                                                least_scores(options_)),
                {}};
        out.shift =
            partition::shift_without_group(evidence_[s], left_out, folds, *grid, cells, out.distributions);
        return out;
    }

    void learn_without(std::uint32_t group) {
        // [stratum] the regions, which are found again if the method learns them.
        std::vector<Partition> regions = all_;
        if (learns_) find_regions(group, regions);
        for (std::size_t s = 0; s < strata(); ++s) {
            if (!evidence_[s].has(group)) continue;
            const std::optional<Fit> others = fit(s, group, regions[s]);
            SmoothStorage learnt;
            if (others)
                learnt = partition::storage_on(
                    others->grid, Cells(run_.data().grid(), cells_[s]),
                    spread_over(others->distributions.whole, regions[s], cells_[s], others->grid.bins() - 1));
            judges_[s]->add(evidence_[s], group, others ? &learnt : nullptr,
                            others ? others->shift.shift : Adaptation::Shift{}, envelopes_[s]);
        }
    }

    /// Finds regions from all groups except one. A stratum keeps its regions if that group or all other
    /// groups have no score in it.
    void find_regions(std::uint32_t group, std::vector<Partition>& regions) {
        if (!others_have_scores(evidence_, group)) return;
        LearnAgain again(run_, group, places_, options_, strata(), progress_);
        for (std::uint32_t s = 0; s < strata(); ++s) {
            if (!evidence_[s].has(group) || again.run.census().totals[s] == 0) continue;
            if (method(options_.method.name).uses_features) again.run.find_features();
            regions[s] = again.run.region_of(settled(again.options, again.choices[s]), s);
        }
    }

    const CalibrateOptions& options_;
    CalibrationRun& run_;
    Progress& progress_;
    bool learns_;  ///< regions depend on the images
    SoftInput input_;
    std::vector<std::uint32_t> places_;
    std::vector<Evidence> evidence_;  ///< [stratum]
    std::vector<Partition> all_;      ///< [stratum] regions from all groups
    std::vector<Partition> cells_;    ///< [stratum] cells that make up the regions of all fits
    std::vector<std::unique_ptr<partition::SmoothJudge>> judges_;
    std::vector<Envelope> envelopes_;
};
}  // namespace

std::vector<SmoothCurves> adapted_curves(const CalibrateOptions& options, std::vector<Partition>& partitions,
                                         CalibrationRun& finder, CalibrationRun& setter, const Ladder& ladder,
                                         std::vector<Adaptation>& adaptations) {
    const SoftInput learn = input_of(options, finder, ladder, finder.progress()),
                    level = input_of(options, setter, ladder, setter.progress());
    std::vector<SmoothCurves> out;
    for (SoftCurves& one :
         partition::adapted_regions({learn, level, &finder == &setter}, partitions, least_scores(options))) {
        const std::size_t s = out.size();
        out.push_back(std::move(one.curves));
        partitions[s] = std::move(one.partition);
        adaptations.push_back(std::move(one.adaptation));
    }
    return out;
}

Calibrator adapted_leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices,
                                 CalibrationRun& run, Progress& progress) {
    partition::check_leave_one_out(run.census().groups);
    AdaptedRelearner learner(options, choices, run, progress);
    const CurveRule rule = rule_for(options, learner.strata() * run.data().grid().pixels());
    std::vector<Partition> partitions;
    std::vector<CurveSet> curves;
    std::vector<SmoothCurves> smooth;
    std::vector<Adaptation> adaptations;
    for (std::uint32_t s = 0; s < learner.strata(); ++s) {
        SoftCurves made = learner.made(s, rule.ladder);
        partitions.push_back(std::move(made.partition));
        curves.emplace_back(rule.ladder);
        smooth.push_back(std::move(made.curves));
        adaptations.push_back(std::move(made.adaptation));
    }
    CalibrateOptions finished = options;
    finished.fallback = Fallback::none;  // every fit has applied the fallback already
    Calibrator made = run.finish(finished, std::move(partitions), std::move(curves), std::move(smooth));
    made.options.fallback = options.fallback;
    made.choices = std::move(choices);
    made.adaptations = std::move(adaptations);
    return made;
}

}  // namespace kandinsky
