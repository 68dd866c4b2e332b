#include "partition/field/leave_one_out.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <kandinsky/threads.hpp>

#include "core/base/parallel.hpp"
#include "core/team/team.hpp"
#include "curve/group_weights.hpp"
#include "partition/envelope.hpp"
#include "partition/field/describe.hpp"

namespace kandinsky::partition::field {

Options for_groups(Options options, double images_per_group) {
    options.locality.unit = 1 + (images_per_group - 1) / 8;
    return options;
}

namespace {
/// What was learnt from all groups except one, and the thresholds of its distributions.
struct Fit {
    Learnt learnt;
    ScoreGrid grid;
    LearntShift shift{};  ///< where levels adapt to the image
};

std::optional<Fit> fit_without(const SoftInput& input, const Options& options, const Cells& cells,
                               const Evidence& evidence, std::size_t groups, std::uint32_t left_out) {
    const std::optional<ScoreGrid> grid = evidence.grid(
        left_out, input.data.grid().pixels(), largest_score(input.score, input.data.classes()), options.bins);
    if (!grid) return std::nullopt;
    const Folds folds = folds_without(options.folds, groups, left_out);
    const bool adapts = input.features != nullptr;
    Fit fit{learn(evidence.count(left_out, *grid, folds, cells),
                  for_groups(options, evidence.images_per_group(left_out)), cells, adapts, silent()),
            *grid};
    if (adapts) fit.shift = shift_without_group(evidence, left_out, folds, *grid, cells, fit.learnt.fit);
    return fit;
}

/// Reports the progress of one part of a longer run as progress of the whole.
class Stretch final : public Progress {
  public:
    Stretch(Progress& whole, std::size_t before, std::size_t all)
        : whole_(whole), before_(before), all_(all) {}
    void update(std::string_view stage, std::size_t done, std::size_t) override {
        whole_.update(stage, before_ + done, all_);
    }
    [[nodiscard]] bool cancelled() const override { return whole_.cancelled(); }

  private:
    Progress& whole_;
    std::size_t before_, all_;
};

/// Appends the curves of some strata whose scores fit into memory together.
void fit_batch(const SoftInput& input, const Options& options, const Cells& cells,
               const std::vector<std::uint32_t>& places, const std::vector<std::uint32_t>& strata,
               std::vector<SoftCurves>& out) {
    const Team& team = team_of(input.data);
    const std::vector<Evidence> evidence = gather_evidence(input, strata, places);
    const std::size_t groups = input.census.groups, wanted = strata.size();
    std::vector<std::uint32_t> own;  // the groups that this rank leaves out
    for (std::size_t g = team.comm.rank(); g < groups; g += team.comm.size())
        own.push_back(static_cast<std::uint32_t>(g));
    SmoothJudge judge(input.data, input.score, cells);
    const bool adapts = input.features != nullptr;
    std::vector<Envelope> envelopes(
        wanted,
        judge.start(adapts ? Adapt::image : Adapt::none, groups,
                    input.weights != nullptr ? units_by_place(input.data, *input.weights, places, groups)
                                             : std::vector<std::uint64_t>{}));
    State state;
    for (Envelope& one : envelopes)
        for (const std::span<std::byte> bytes : one.state()) state.push_back(bytes);
    constexpr const char* kStage = "field: leaving groups out";
    const auto work = [&](std::size_t first, std::size_t last) {
        Stretch progress(input.progress, first * wanted, own.size() * wanted);
        parallel_for((last - first) * wanted, progress, kStage, [&](std::size_t i) {
            const Evidence& scores = evidence[i % wanted];
            const std::uint32_t group = own[first + i / wanted];
            if (!scores.has(group)) return;
            const std::optional<Fit> others = fit_without(input, options, cells, scores, groups, group);
            SmoothStorage learnt;
            if (others) learnt = storage_on(others->grid, cells, others->learnt.fit.whole);
            judge.add(scores, group, others ? &learnt : nullptr,
                      others ? others->shift.shift : Adaptation::Shift{}, envelopes[i % wanted]);
        });
    };
    accumulate(team, kStage, own.size(), state, work, threads_in_use());
    for (std::size_t i = 0; i < wanted; ++i) {
        envelopes[i].sum(team.comm);
        const std::optional<Fit> all =
            fit_without(input, options, cells, evidence[i], groups, Evidence::kNobody);
        SmoothStorage storage;
        storage.side = cells.side();
        SoftCurves& made = out.emplace_back();
        if (all && adapts)
            made.adaptation = judge.adapted_curves(envelopes[i], input.ladder, storage);
        else if (all)
            storage = judge.curves(envelopes[i], input.ladder);
        storage.scores = input.census.totals[strata[i]];
        made.partition.geometry =
            describe(all ? all->learnt : Learnt{}, std::min(options.folds, groups), cells,
                     all ? all->grid.bins() : 0, all && adapts ? &all->shift : nullptr);
        made.curves = smooth_from(input.data.grid(), input.ladder, std::move(storage));
    }
}
}  // namespace

std::vector<SoftCurves> leave_one_out(const SoftInput& input, const Options& options, const Cells& cells) {
    const Folds folds =
        make_folds(input.data, input.census.image_hash, options.folds, options.order, input.seed);
    check_leave_one_out(input.census.groups);
    std::vector<SoftCurves> out;
    for (const std::vector<std::uint32_t>& strata : evidence_batches(input))
        fit_batch(input, options, cells, folds.place, strata, out);
    return out;
}

}  // namespace kandinsky::partition::field
