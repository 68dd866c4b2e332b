#include "outline/records.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "outline/nested.hpp"
#include "outline/scores.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr std::size_t kSample = 65536;  // voxels of a group that a profile is made of, at most
constexpr std::size_t kSteps = 512;     // values of a profile

/// The score of the object's last voxel but `misses`, in ascending order; -inf where all may be missed.
double last_needed(std::vector<float>& scores, std::size_t misses) {
    if (scores.size() <= misses) return -kAll;
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(scores.size() - misses - 1);
    std::nth_element(scores.begin(), last, scores.end());
    return *last;
}

GroupRecord record_of(const std::vector<Case>& cases, const std::vector<std::vector<float>>& fields,
                      std::size_t cls, const std::vector<OutlineScore>& scores, double share) {
    GroupRecord out;
    std::vector<ClassScores> makers;
    std::size_t object = 0, voxels = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& one = cases[i];
        makers.emplace_back(one, cls, fields.empty() ? nullptr : &fields[i]);
        const std::uint8_t* const member = one.member.data() + cls * one.extent.voxels();
        for (std::size_t v = 0; v < one.extent.voxels(); ++v) {
            voxels += one.valid[v];
            object += one.valid[v] & member[v];
        }
    }
    if (voxels == 0) return out;
    out.has = object > 0;
    out.object_share = static_cast<double>(object) / static_cast<double>(voxels);
    const std::size_t misses = allowed_misses(share, object);
    std::vector<float> all, inside, outside;
    for (const OutlineScore& score : scores) {
        all.clear(), inside.clear(), outside.clear();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Case& one = cases[i];
            std::vector<float> values(one.extent.voxels());
            makers[i].make(score, values.data());
            const std::uint8_t* const member = one.member.data() + cls * one.extent.voxels();
            for (std::size_t v = 0; v < values.size(); ++v) {
                if (one.valid[v] == 0) continue;
                all.push_back(values[v]);
                if (member[v] != 0)
                    inside.push_back(values[v]);
                else
                    outside.push_back(-values[v]);
            }
        }
        out.outer.push_back(last_needed(inside, misses));
        out.inner.push_back(-last_needed(outside, misses));
        out.profiles.emplace_back(std::move(all));
        all = {};
    }
    return out;
}
}  // namespace

Profile::Profile(std::vector<float> scores) {
    const std::size_t n = scores.size();
    if (n > kSample) {
        for (std::size_t i = 0; i < kSample; ++i) scores[i] = scores[(2 * i + 1) * n / (2 * kSample)];
        scores.resize(kSample);
    }
    std::sort(scores.begin(), scores.end());
    const std::size_t last = scores.size() - 1;
    for (std::size_t i = 0; i <= kSteps; ++i) {
        const double place = static_cast<double>(i * i) / static_cast<double>(kSteps * kSteps);
        values_.push_back(scores[static_cast<std::size_t>(place * static_cast<double>(last))]);
    }
}

double Profile::up_to(double threshold) const {
    const auto end = std::upper_bound(values_.begin(), values_.end(), threshold,
                                      [](double t, float v) { return t < static_cast<double>(v); });
    const double place = static_cast<double>(end - values_.begin()) / static_cast<double>(values_.size());
    return place * place;
}

double Profile::from(double threshold) const {
    const auto begin = std::lower_bound(values_.begin(), values_.end(), threshold,
                                        [](float v, double t) { return static_cast<double>(v) < t; });
    const double place = static_cast<double>(begin - values_.begin()) / static_cast<double>(values_.size());
    return 1 - place * place;
}

std::size_t allowed_misses(double share, std::size_t object) {
    return static_cast<std::size_t>(std::floor((1 - share) * static_cast<double>(object) + 1e-6));
}

std::vector<OutlineScore> candidates(const OutlineOptions& options) {
    using Kind = OutlineScore::Kind;
    std::vector<OutlineScore> out = options.scores;
    if (out.empty()) {
        out = {{Kind::distance, 0}, {Kind::relative, 0}};
        if (!options.hard)
            for (const double weight : {3.0, 10.0, 30.0, 100.0}) out.push_back({Kind::blend, weight});
        if (!options.hard) out.push_back({Kind::probability, 0});
        if (options.calibrator) out.push_back({Kind::field, 0});
    }
    for (const OutlineScore& score : out) {
        if (options.hard && score.kind != Kind::distance && score.kind != Kind::relative)
            fail(ErrorKind::usage,
                 "--score {} needs probabilities, but there are only masks; take distance or relative",
                 name_of(score));
        if (score.kind == Kind::field && !options.calibrator)
            fail(ErrorKind::usage, "--score field needs --calibrator: the .kcal whose values it takes");
    }
    return out;
}

std::vector<std::vector<GroupRecord>> collect_records(const CaseSource& cases,
                                                      const std::vector<std::uint32_t>& classes,
                                                      const std::vector<OutlineScore>& scores, double share,
                                                      const Calibrator* calibrator, Progress& progress) {
    const std::vector<std::vector<std::size_t>> groups = cases.by_group();
    std::vector<std::vector<GroupRecord>> out(classes.size(), std::vector<GroupRecord>(groups.size()));
    const bool field = std::any_of(scores.begin(), scores.end(), [](const OutlineScore& score) {
        return score.kind == OutlineScore::Kind::field;
    });
    parallel_for(groups.size(), progress, "outlining", [&](std::size_t g) {
        std::vector<Case> own;
        std::vector<std::vector<float>> fields;
        for (const std::size_t i : groups[g]) {
            if (progress.cancelled()) throw Interrupted();
            own.push_back(cases.read(i));
            if (field) fields.push_back(field_values(*calibrator, own.back()));
        }
        for (std::size_t c = 0; c < classes.size(); ++c)
            out[c][g] = record_of(own, fields, classes[c], scores, share);
    });
    return out;
}

ClassOutline outline_of(const std::vector<const GroupRecord*>& groups,
                        const std::vector<OutlineScore>& scores, double alpha, OutlineSides sides) {
    ClassOutline out;
    std::vector<const GroupRecord*> have, lack;
    for (const GroupRecord* const one : groups) (one->has ? have : lack).push_back(one);
    out.groups = have.size();
    out.without = lack.size();
    const double level = sides == OutlineSides::both ? alpha / 2 : alpha;
    // The score that is taken where there are too few groups to choose one.
    const std::size_t plain = scores.size() > 3 ? 3 : 0;
    std::vector<Family> outer(scores.size()), inner(scores.size());
    for (std::size_t k = 0; k < scores.size(); ++k) {
        for (const GroupRecord* const one : have) {
            outer[k].truth.push_back(one->outer[k]);
            inner[k].truth.push_back(-one->inner[k]);
        }
        outer[k].size = [&have, k](std::size_t g, double t) { return have[g]->profiles[k].up_to(t); };
        inner[k].size = [&have, k](std::size_t g, double t) { return have[g]->profiles[k].from(-t); };
    }
    if (sides != OutlineSides::inner)
        for (const Level& one : conformal_levels(outer, level, plain))
            out.outer.push_back({scores[one.family], one.threshold});
    if (sides != OutlineSides::outer)
        for (const Level& one : conformal_levels(inner, level, plain))
            out.inner.push_back({scores[one.family], -one.threshold});
    const auto score_of = [&](const OutlineLevel& one) {
        return static_cast<std::size_t>(std::find(scores.begin(), scores.end(), one.score) - scores.begin());
    };
    double object = 0, outside = 0, inside = 0;
    for (const GroupRecord* const one : have) {
        object += one->object_share;
        double large = 0, small = 1;
        for (const OutlineLevel& by : out.outer)
            large = std::max(large, one->profiles[score_of(by)].up_to(by.threshold));
        for (const OutlineLevel& by : out.inner)
            small = std::min(small, 1 - one->profiles[score_of(by)].from(by.threshold));
        outside += large;
        inside += out.inner.empty() ? 0 : small;
    }
    const double n = std::max<double>(1, static_cast<double>(have.size()));
    out.object_share = object / n;
    out.outer_share = out.outer.empty() ? 1 : outside / n;
    out.inner_share = inside / n;
    // A group without the class has its whole image outside it: the lowest score is its `inner`.
    for (const GroupRecord* const one : lack) {
        bool empty = one->inner.empty() || out.inner.empty();
        for (const OutlineLevel& by : out.inner) empty = empty || by.threshold <= one->inner[score_of(by)];
        out.false_inner += empty ? 0 : 1;
    }
    return out;
}

}  // namespace kandinsky::outline
