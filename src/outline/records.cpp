#include "outline/records.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "outline/components.hpp"
#include "outline/scores.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr std::size_t kSample = 65536;  // the largest number of voxels of a group in a profile
constexpr std::size_t kSteps = 512;     // number of steps between the values of a profile

/// The (misses + 1)-th largest of the scores, the smallest threshold that misses at most `misses` of them;
/// -inf if all may be missed. Reorders the scores.
double last_needed(std::vector<float>& scores, std::size_t misses) {
    if (scores.size() <= misses) return -kAll;
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(scores.size() - misses - 1);
    std::nth_element(scores.begin(), last, scores.end());
    return *last;
}

/// Adds the smallest threshold whose mask contains `share` of the object, for each object of a case.
void add_objects(const ObjectVoxels& objects, const std::vector<float>& scores, double share,
                 std::vector<double>& to) {
    std::vector<float> own;
    for (std::size_t i = 0; i < objects.count(); ++i) {
        own.clear();
        for (const std::uint32_t v : objects.of(i)) own.push_back(scores[v]);
        to.push_back(last_needed(own, allowed_object_misses(share, own.size())));
    }
}

GroupRecord record_of(const std::vector<Case>& cases, const std::vector<std::vector<float>>& fields,
                      std::size_t cls, const std::vector<OutlineScore>& scores,
                      const OutlineOptions& options) {
    GroupRecord out;
    std::vector<ClassScores> makers;
    std::vector<ObjectVoxels> objects;  // of each case, if objects are the unit
    const bool apart = options.per == OutlineUnit::object;
    std::size_t object = 0, voxels = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& one = cases[i];
        makers.emplace_back(one, cls, fields.empty() ? nullptr : &fields[i]);
        if (apart) objects.push_back(objects_of(one, cls, options.connectivity));
        const std::uint8_t* const member = one.member.data() + cls * one.extent.voxels();
        for (std::size_t v = 0; v < one.extent.voxels(); ++v) {
            voxels += one.valid[v];
            object += one.valid[v] & member[v];
        }
    }
    if (voxels == 0) return out;
    out.has = object > 0;
    out.object_share = static_cast<double>(object) / static_cast<double>(voxels);
    const std::size_t misses = allowed_misses(options.share, object);
    std::vector<float> all, inside, outside;
    for (const OutlineScore& score : scores) {
        std::vector<double>& held = out.outer.emplace_back();
        all.clear(), inside.clear(), outside.clear();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const Case& one = cases[i];
            std::vector<float> values(one.extent.voxels());
            makers[i].make(score, values.data());
            if (apart) add_objects(objects[i], values, options.share, held);
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
        if (!apart) held.push_back(last_needed(inside, misses));
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

std::uint64_t Profile::key() const {
    std::uint64_t out = 0;
    for (const float value : values_) out = mix(out ^ std::bit_cast<std::uint32_t>(value));
    return out;
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
            out.insert(
                out.end(),
                {{Kind::distance, 10}, {Kind::relative, 10}, {Kind::doubt, 10}, {Kind::probability, 0}});
        if (options.calibrator) out.push_back({Kind::field, 0});
    }
    for (const OutlineScore& score : out) {
        if (options.hard &&
            (score.weight > 0 || (score.kind != Kind::distance && score.kind != Kind::relative)))
            fail(ErrorKind::usage,
                 "`score {}` needs probabilities, but there are only masks; use distance or relative",
                 name_of(score));
        if (score.kind == Kind::field && !options.calibrator)
            fail(ErrorKind::usage, "`score field` uses a calibrator's p-values: give `calibrator FILE.kcal`");
    }
    return out;
}

std::size_t plain_candidate(const OutlineOptions& options) {
    // `relative` of candidates() is the most robust: its margins grow with the object, and it needs no
    // probabilities.
    return options.scores.empty() ? 1 : 0;
}

std::vector<std::vector<GroupRecord>> collect_records(const CaseSource& cases,
                                                      const std::vector<std::uint32_t>& classes,
                                                      const std::vector<OutlineScore>& scores,
                                                      const OutlineOptions& options, Progress& progress) {
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
            if (field) fields.push_back(field_values(*options.calibrator, own.back()));
        }
        for (std::size_t c = 0; c < classes.size(); ++c)
            out[c][g] = record_of(own, fields, classes[c], scores, options);
    });
    return out;
}

ClassOutline outline_of(const std::vector<const GroupRecord*>& groups,
                        const std::vector<OutlineScore>& scores, std::size_t plain, const Assurance& wanted,
                        OutlineSides sides, std::uint64_t seed) {
    ClassOutline out;
    std::vector<const GroupRecord*> have, lack;
    for (const GroupRecord* const one : groups) (one->has ? have : lack).push_back(one);
    out.groups = have.size();
    out.without = lack.size();
    const Assurance level = sides == OutlineSides::both ? wanted.halved() : wanted;
    std::vector<std::uint64_t> keys;
    std::vector<Family> outer(scores.size()), inner(scores.size());
    for (std::size_t k = 0; k < scores.size(); ++k) {
        for (const GroupRecord* const one : have) {
            outer[k].truth.push_back(one->outer[k]);
            inner[k].truth.push_back({-one->inner[k]});
        }
        outer[k].size = [&have, k](std::size_t g, double t) { return have[g]->profiles[k].up_to(t); };
        inner[k].size = [&have, k](std::size_t g, double t) { return have[g]->profiles[k].from(-t) - 1; };
    }
    keys.reserve(have.size());
    for (const GroupRecord* const one : have) keys.push_back(one->profiles.front().key());
    const std::vector<bool> choosing =
        scores.size() > 1 ? choosers(keys, level, seed) : std::vector<bool>(have.size(), false);
    out.choosers = static_cast<std::size_t>(std::count(choosing.begin(), choosing.end(), true));
    // If a side is not requested, its mask is the whole image (outer) or empty (inner).
    const Level none{plain, kAll};
    const Level large = sides == OutlineSides::inner ? none : conformal_level(outer, level, choosing, plain);
    const Level small = sides == OutlineSides::outer ? none : conformal_level(inner, level, choosing, plain);
    out.outer = {scores[large.family], large.threshold};
    out.inner = {scores[small.family], -small.threshold};
    for (const GroupRecord* const one : have) {
        const double n = static_cast<double>(have.size());
        out.object_share += one->object_share / n;
        out.outer_share += one->profiles[large.family].up_to(out.outer.threshold) / n;
        out.inner_share += (1 - one->profiles[small.family].from(out.inner.threshold)) / n;
    }
    // In a group without the class every voxel is outside the object, so `inner` is the lowest score.
    for (const GroupRecord* const one : lack)
        out.false_inner += !one->inner.empty() && one->inner[small.family] < out.inner.threshold;
    return out;
}

}  // namespace kandinsky::outline
