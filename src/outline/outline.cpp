#include <algorithm>
#include <cmath>
#include <kandinsky/outline.hpp>
#include <limits>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "outline/records.hpp"
#include "outline/scores.hpp"
#include "outline/shared_rule.hpp"

namespace kandinsky {

namespace {
bool needs_field(const OutlineRule& rule) {
    for (const ClassOutline& one : rule.classes)
        for (const OutlineLevel& level : {one.outer, one.inner})
            if (level.score.kind == OutlineScore::Kind::field) return true;
    return false;
}
}  // namespace

OutlineRule calibrate_outlines(const CaseSource& cases, const OutlineOptions& options, Progress& progress) {
    if (!cases.labelled())
        fail(ErrorKind::usage, "outlines are calibrated on labelled images; there are no labels");
    const outline::Assurance wanted{options.alpha, options.confidence};
    outline::check(wanted);
    if (!(options.share > 0 && options.share <= 1))
        fail(ErrorKind::usage, "--share is {}, but must be above 0 and at most 1", options.share);
    OutlineRule out = outline::begun_rule<OutlineRule>(options, cases);
    out.share = options.share;
    out.sides = options.sides;
    const std::vector<std::uint32_t> classes = outline::chosen_classes(options.classes, cases.classes());
    const std::vector<OutlineScore> scores = outline::candidates(options);
    const auto records =
        outline::collect_records(cases, classes, scores, options.share, options.calibrator.get(), progress);
    out.groups = records.front().size();
    out.grouped = out.groups < cases.size();
    for (std::size_t c = 0; c < classes.size(); ++c) {
        std::vector<const outline::GroupRecord*> groups;
        for (const outline::GroupRecord& one : records[c]) groups.push_back(&one);
        out.classes.push_back(outline::outline_of(groups, scores, wanted, options.sides, options.seed));
        out.classes.back().number = classes[c];
    }
    return out;
}

std::vector<std::uint8_t> outline_case(const OutlineRule& rule, const Case& one,
                                       const Calibrator* calibrator) {
    const std::size_t voxels = one.extent.voxels();
    if (one.probs.size() != rule.class_count * voxels)
        fail(ErrorKind::data, "an image has {} classes, but the outlines are made for {}",
             one.probs.size() / voxels, rule.class_count);
    std::vector<float> field;
    if (needs_field(rule)) {
        if (calibrator == nullptr)
            fail(ErrorKind::usage,
                 "these outlines were made with --score field: give the same --calibrator again");
        field = outline::field_values(*calibrator, one);
    }
    std::vector<std::uint8_t> out(rule.classes.size() * voxels, kOutside);
    std::vector<float> scores(voxels);
    for (std::size_t c = 0; c < rule.classes.size(); ++c) {
        const ClassOutline& how = rule.classes[c];
        const outline::ClassScores maker(one, how.number, field.empty() ? nullptr : &field);
        std::uint8_t* const codes = out.data() + c * voxels;
        maker.make(how.outer.score, scores.data());
        for (std::size_t v = 0; v < voxels; ++v)
            codes[v] =
                rule.sides == OutlineSides::inner || static_cast<double>(scores[v]) <= how.outer.threshold;
        if (rule.sides == OutlineSides::outer) continue;
        if (!(how.inner.score == how.outer.score)) maker.make(how.inner.score, scores.data());
        for (std::size_t v = 0; v < voxels; ++v)
            if (codes[v] == kBetween && static_cast<double>(scores[v]) < how.inner.threshold)
                codes[v] = kInside;
    }
    return out;
}

std::vector<OutlineJudgement> judge_outlines(const OutlineRule& rule, const CaseSource& cases,
                                             const Calibrator* calibrator, Progress& progress) {
    if (!cases.labelled())
        fail(ErrorKind::usage, "outlines are judged on labelled images; there are no labels");
    struct Counts {
        std::size_t voxels = 0, object = 0, outer = 0, inner = 0, held = 0, wrong = 0;
    };
    const std::vector<std::vector<std::size_t>> groups = cases.by_group();
    std::vector<std::vector<Counts>> counts(groups.size(), std::vector<Counts>(rule.classes.size()));
    parallel_for(groups.size(), progress, "judging", [&](std::size_t g) {
        for (const std::size_t i : groups[g]) {
            const Case one = cases.read(i);
            const std::size_t voxels = one.extent.voxels();
            const std::vector<std::uint8_t> codes = outline_case(rule, one, calibrator);
            for (std::size_t c = 0; c < rule.classes.size(); ++c) {
                Counts& to = counts[g][c];
                const std::uint8_t* const member = one.member.data() + rule.classes[c].number * voxels;
                for (std::size_t v = 0; v < voxels; ++v) {
                    if (one.valid[v] == 0) continue;
                    const std::uint8_t code = codes[c * voxels + v];
                    ++to.voxels;
                    to.object += member[v];
                    to.outer += code != kOutside;
                    to.inner += code == kInside;
                    to.held += code != kOutside && member[v] != 0;
                    to.wrong += code == kInside && member[v] == 0;
                }
            }
        }
    });
    std::vector<OutlineJudgement> out(rule.classes.size());
    for (std::size_t c = 0; c < out.size(); ++c) {
        OutlineJudgement& sum = out[c];
        for (const std::vector<Counts>& group : counts) {
            const Counts& one = group[c];
            if (one.voxels == 0) continue;
            if (one.object == 0) {
                ++sum.without;
                sum.false_inner += one.inner > 0;
                continue;
            }
            const auto all = static_cast<double>(one.voxels);
            const std::size_t misses = outline::allowed_misses(rule.share, one.object);
            ++sum.groups;
            sum.held += one.object - one.held <= misses && one.wrong <= misses;
            sum.object_share += static_cast<double>(one.object) / all;
            sum.outer_share += static_cast<double>(one.outer) / all;
            sum.inner_share += static_cast<double>(one.inner) / all;
        }
        const double n = std::max<double>(1, static_cast<double>(sum.groups));
        sum.object_share /= n, sum.outer_share /= n, sum.inner_share /= n;
    }
    return out;
}

}  // namespace kandinsky
