#include "calibrate/leave_one_out.hpp"
#include "calibrate/choice_label.hpp"
#include "core/data/dataset_access.hpp"
#include "curve/curve_storage.hpp"
#include "partition/method.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "calibrate/learn_again.hpp"
#include "calibrate/region_judge.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "curve/group_weights.hpp"
#include "partition/envelope.hpp"

namespace kandinsky {

using partition::Cells;
using partition::Envelope;
using partition::Evidence;

CalibrateOptions settled(CalibrateOptions options, const Choice& choice) {
    options.method.name = choice.method;
    for (const auto& [flag, value] : choice.tuned) options.method.settings.text[flag] = value;
    return options;
}

namespace {
/// The result of learning without one group, for one stratum.
enum class Learnt : std::uint8_t {
    unknown,  ///< the group has no score of the class, so it is not left out
    nothing,  ///< no other group has the class, so the class must be in every set
    regions,
    smooth,
};

/// What is kept of each fit, for all groups and strata.
class Fits {
  public:
    Fits(std::size_t groups, std::size_t strata, std::size_t pixels)
        : strata_(strata), pixels_(pixels), kind_(groups * strata), region_(groups * strata * pixels) {}

    [[nodiscard]] Learnt kind(std::size_t group, std::size_t stratum) const {
        return static_cast<Learnt>(kind_[group * strata_ + stratum]);
    }
    void set(std::size_t group, std::size_t stratum, Learnt kind) {
        kind_[group * strata_ + stratum] = static_cast<std::uint8_t>(kind);
    }
    void set(std::size_t group, std::size_t stratum, const Partition& found) {
        if (found.regions > 65535)
            fail(ErrorKind::usage,
                 "`promise loo` is for up to 65535 regions, but there are {}; use `promise split`",
                 found.regions);
        set(group, stratum, Learnt::regions);
        std::copy(found.region.begin(), found.region.end(),
                  region_.data() + (group * strata_ + stratum) * pixels_);
    }
    [[nodiscard]] bool some(std::size_t stratum, Learnt kind) const {
        for (std::size_t at = stratum; at < kind_.size(); at += strata_)
            if (static_cast<Learnt>(kind_[at]) == kind) return true;
        return false;
    }
    /// Calls body(group, regions [pixel]) for every fit of a stratum that has regions.
    template <class Body>
    void for_each(std::size_t stratum, Body&& body) const {
        for (std::uint32_t g = 0; g < kind_.size() / strata_; ++g)
            if (kind(g, stratum) == Learnt::regions)
                body(g, std::span(region_).subspan((g * strata_ + stratum) * pixels_, pixels_));
    }
    [[nodiscard]] State state() { return {bytes_of(kind_), bytes_of(region_)}; }

  private:
    std::size_t strata_, pixels_;
    std::vector<std::uint8_t> kind_;     ///< [group][stratum]
    std::vector<std::uint16_t> region_;  ///< [group][stratum][pixel]
};

/// Repeats learning without each group in turn.
class Relearner {
  public:
    Relearner(const CalibrateOptions& options, CalibrationRun& run, Progress& progress)
        : options_(options),
          run_(run),
          progress_(progress),
          cells_(run.data().grid()),
          input_{.data = run.data(),
                 .census = run.census(),
                 .condition = options.condition,
                 .score = options.score,
                 .strata = {},
                 .ladder = {},
                 .memory = options.memory,
                 .progress = progress},
          places_(partition::make_folds(run.data(), run.census().image_hash, 2, partition::FoldOrder::content,
                                        options.seed)
                      .place),
          judge_(run.data(), options.score, cells_),
          fits_(run.census().groups, run.census().strata, run.data().grid().pixels()),
          envelopes_(run.census().strata, judge_.start(Adapt::none, 0,
                                                       units_by_place(run.data(), options.weights, places_,
                                                                      run.census().groups))) {
        for (std::uint32_t s = 0; s < run.census().strata; ++s) input_.strata.push_back(s);
        evidence_ = partition::gather_evidence(input_, input_.strata, places_);
        const Team& team = team_of(run.data());
        State state = fits_.state();
        for (Envelope& one : envelopes_)
            for (const std::span<std::byte> bytes : one.state()) state.push_back(bytes);
        const auto work = [&](std::size_t first, std::size_t last) {
            for (std::size_t g = first; g < last; ++g) {
                progress_.update("leaving groups out", g, groups());
                if (progress_.cancelled()) throw Interrupted();
                learn_without(static_cast<std::uint32_t>(g));
            }
        };
        accumulate(team, "leaving groups out", groups(), state, work,
                   1);  // one group at a time: a search can take seconds
    }

    [[nodiscard]] std::size_t groups() const { return run_.census().groups; }
    [[nodiscard]] std::size_t strata() const { return run_.census().strata; }
    [[nodiscard]] const Fits& fits() const { return fits_; }
    [[nodiscard]] const Cells& cells() const { return cells_; }

    /// The curves of the smooth fits only, with the levels of all fits.
    [[nodiscard]] SmoothCurves smooth(std::size_t stratum, const Ladder& ladder) const {
        SmoothStorage storage = judge_.curves(envelopes_[stratum], ladder);
        storage.scores = run_.census().totals[stratum];
        return smooth_from(run_.data().grid(), ladder, std::move(storage));
    }

    /// Returns the judge that gives the thresholds of the pieces. Call it once: it adds to levels() the
    /// scores of the groups whose fits have regions.
    [[nodiscard]] RegionJudge judge_regions(std::size_t stratum) {
        RegionJudge judge(evidence_[stratum], groups(),
                          options_.fallback == Fallback::image ? options_.min_count : 0);
        Envelope& own = envelopes_[stratum];
        fits_.for_each(stratum, [&](std::uint32_t group, RegionJudge::Regions regions) {
            judge.judge(group, regions, own.weights.empty() ? kGroupWeight : own.weights[group], own.levels);
        });
        return judge;
    }
    [[nodiscard]] const partition::GroupLevels& levels(std::size_t stratum) const {
        return envelopes_[stratum].levels;
    }

  private:
    void learn_without(std::uint32_t group) {
        for (std::size_t s = 0; s < strata(); ++s)
            if (evidence_[s].has(group)) fits_.set(group, s, Learnt::nothing);
        if (!others_have_scores(evidence_, group)) return judge_nothing(group);
        LearnAgain again(run_, group, places_, options_, strata(), progress_);
        std::map<std::string, std::vector<std::uint32_t>> soft;
        for (std::uint32_t s = 0; s < strata(); ++s) {
            if (fits_.kind(group, s) == Learnt::unknown || again.run.census().totals[s] == 0) continue;
            const Choice& choice = again.choices[s];
            const Method& how = method(choice.method);
            if (how.fit_curves) {
                soft[label_of(choice.method, choice.tuned)].push_back(s);
                continue;
            }
            if (how.uses_features) again.run.find_features();
            fits_.set(group, s, again.run.region_of(settled(again.options, choice), s));
        }
        for (const auto& [label, those] : soft) {
            CalibrateOptions one = settled(again.options, again.choices[those.front()]);
            one.pooling = Pooling::pixels;
            one.promise = Promise::leave_one_out;
            const std::vector<SoftCurves> made = again.run.soft_curves(one, those, nullptr, Ladder{});
            for (std::size_t i = 0; i < those.size(); ++i) {
                fits_.set(group, those[i], Learnt::smooth);
                judge_.add(evidence_[those[i]], group, &storage_of(made[i].curves), {}, envelopes_[those[i]]);
            }
        }
        judge_nothing(group);
    }

    /// Scores for which nothing could be learnt count as infinite.
    void judge_nothing(std::uint32_t group) {
        for (std::size_t s = 0; s < strata(); ++s)
            if (fits_.kind(group, s) == Learnt::nothing)
                judge_.add(evidence_[s], group, nullptr, {}, envelopes_[s]);
    }

    const CalibrateOptions& options_;
    CalibrationRun& run_;
    Progress& progress_;
    Cells cells_;
    SoftInput input_;
    std::vector<std::uint32_t> places_;
    partition::SmoothJudge judge_;
    std::vector<Evidence> evidence_;
    Fits fits_;
    std::vector<Envelope> envelopes_;
};

/// The pieces: pixels that are in the same region in every fit form one piece. If some fit is smooth, every
/// pixel is a piece.
Partition pieces_of(const Fits& fits, std::size_t stratum, const Grid& grid) {
    Partition out = whole_image(grid);
    if (fits.some(stratum, Learnt::smooth)) {
        Cells(grid, grid.pixels()).divide(out);
        return out;
    }
    fits.for_each(stratum, [&](std::uint32_t, RegionJudge::Regions region) {
        std::map<std::uint64_t, std::uint32_t> number;
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            const std::uint64_t both = std::uint64_t{out.region[p]} << 16 | region[p];
            out.region[p] = number.emplace(both, static_cast<std::uint32_t>(number.size())).first->second;
        }
        out.regions = static_cast<std::uint32_t>(number.size());
    });
    return out;
}

/// The curves of the pieces: the largest thresholds of all fits.
CurveSet curves_of(Relearner& learner, std::size_t stratum, const Partition& pieces, const Ladder& ladder,
                   std::uint64_t scores) {
    const RegionJudge judge = learner.judge_regions(stratum);
    const std::vector<std::uint32_t> rungs = levels_of(ladder, &learner.levels(stratum));
    const std::size_t count = rungs.size();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    std::vector<float> most(pieces.regions * count, -kInf);
    if (learner.fits().some(stratum, Learnt::nothing)) std::fill(most.begin(), most.end(), kInf);
    std::vector<std::size_t> first(pieces.regions);  // a pixel of each piece
    for (std::size_t p = pieces.region.size(); p-- > 0;) first[pieces.region[p]] = p;
    learner.fits().for_each(stratum, [&](std::uint32_t group, RegionJudge::Regions region) {
        const std::vector<float> own = judge.thresholds(group, region, rungs);
        parallel_for(pieces.regions, [&](std::size_t piece) {
            for (std::size_t k = 0; k < count; ++k)
                most[piece * count + k] =
                    std::max(most[piece * count + k], own[region[first[piece]] * count + k]);
        });
    });
    if (learner.fits().some(stratum, Learnt::smooth)) {  // pieces are pixels
        const SmoothCurves smooth = learner.smooth(stratum, ladder);
        std::vector<double> alphas;
        for (const double level : ladder.levels) alphas.push_back(1 - level);
        std::vector<float> row(count);
        for (std::size_t p = 0; p < pieces.regions; ++p) {
            smooth.thresholds(alphas, {p, p + 1}, row);
            for (std::size_t k = 0; k < count; ++k)
                most[p * count + k] = std::max(most[p * count + k], row[k]);
        }
    }
    CurveSet curves(ladder);
    for (std::size_t piece = 0; piece < pieces.regions; ++piece)
        curves.append({.scores = scores,
                       .groups = learner.levels(stratum).groups(),
                       .complete = false,
                       .values = {most.begin() + static_cast<std::ptrdiff_t>(piece * count),
                                  most.begin() + static_cast<std::ptrdiff_t>((piece + 1) * count)}});
    return curves;
}
}  // namespace

Calibrator leave_one_out(const CalibrateOptions& options, std::vector<Choice> choices, CalibrationRun& run,
                         Progress& progress) {
    const Grid grid = run.data().grid();
    partition::check_leave_one_out(run.census().groups);
    Relearner learner(options, run, progress);
    const std::size_t strata = learner.strata();
    std::vector<Partition> partitions;
    std::vector<bool> soft;
    for (std::size_t s = 0; s < strata; ++s) {
        soft.push_back(learner.fits().some(s, Learnt::smooth) && !learner.fits().some(s, Learnt::regions));
        partitions.push_back(pieces_of(learner.fits(), s, grid));
        if (soft[s]) learner.cells().divide(partitions[s]);
        const Method& how = method(choices[s].method);
        nlohmann::ordered_json geometry = nlohmann::ordered_json::object();
        if (run.census().totals[s] > 0 && !how.fit_curves) {
            if (how.uses_features) run.find_features();
            geometry = nlohmann::ordered_json::parse(run.region_of(settled(options, choices[s]), s).geometry);
        }
        geometry["pieces"] = partitions[s].regions;
        partitions[s].geometry = geometry.dump();
    }
    const CurveRule rule = rule_for(options, curve_count(partitions));
    std::vector<CurveSet> curves;
    std::vector<SmoothCurves> smooth(std::find(soft.begin(), soft.end(), true) != soft.end() ? strata : 0);
    for (std::size_t s = 0; s < strata; ++s) {
        if (soft[s]) {
            curves.emplace_back(rule.ladder);
            smooth[s] = learner.smooth(s, rule.ladder);
            continue;
        }
        if (run.census().totals[s] > 0) {
            curves.push_back(curves_of(learner, s, partitions[s], rule.ladder, run.census().totals[s]));
        } else {
            curves.emplace_back(rule.ladder);
            for (std::size_t piece = 0; piece < partitions[s].regions; ++piece)
                curves.back().append(CurveSet::Curve{});
        }
    }
    CalibrateOptions finished = options;
    finished.fallback = Fallback::none;  // every fit has applied the fallback already
    Calibrator made = run.finish(finished, std::move(partitions), std::move(curves), std::move(smooth));
    made.options.fallback = options.fallback;
    made.choices = std::move(choices);
    return made;
}

}  // namespace kandinsky
