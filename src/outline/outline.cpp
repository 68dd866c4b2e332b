#include <kandinsky/outline.hpp>

#include "core/base/fail.hpp"
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
    const bool objects = options.per == OutlineUnit::object;
    if (!(options.share <= 1 && (options.share > 0 || (objects && options.share == 0))))
        fail(ErrorKind::usage, "`share` is {}, but must be {} and at most 1", options.share,
             objects ? "at least 0 (one voxel of the object is enough)" : "above 0");
    if (objects && options.sides != OutlineSides::outer)
        fail(ErrorKind::usage, "`unit object` makes outer masks only; give `sides outer`");
    if (objects && options.confidence > 0)
        fail(ErrorKind::usage,
             "`confidence` is for whole groups; with `unit object` alpha holds on average over the draws of "
             "calibration data");
    OutlineRule out = outline::begun_rule<OutlineRule>(options, cases);
    out.share = options.share;
    out.per = options.per;
    out.connectivity = options.connectivity;
    out.sides = options.sides;
    const std::vector<std::uint32_t> classes = outline::chosen_classes(options.classes, cases.classes());
    const std::vector<OutlineScore> scores = outline::candidates(options);
    const auto records = outline::collect_records(cases, classes, scores, options, progress);
    out.groups = records.front().size();
    out.grouped = out.groups < cases.size();
    for (std::size_t c = 0; c < classes.size(); ++c) {
        std::vector<const outline::GroupRecord*> groups;
        for (const outline::GroupRecord& one : records[c]) groups.push_back(&one);
        out.classes.push_back(outline::outline_of(groups, scores, outline::plain_candidate(options), wanted,
                                                  options.sides, options.seed));
        out.classes.back().number = classes[c];
        if (objects)
            for (const outline::GroupRecord& one : records[c])
                if (one.has) out.classes.back().objects += one.outer.front().size();
    }
    return out;
}

std::vector<std::uint8_t> outline_case(const OutlineRule& rule, const Case& one,
                                       const Calibrator* calibrator) {
    const std::size_t voxels = one.extent.voxels();
    if (voxels == 0) fail(ErrorKind::data, "an image has no voxels");
    if (one.probs.size() != rule.class_count * voxels)
        fail(ErrorKind::data, "an image has {} classes, but the outlines are made for {}",
             one.probs.size() / voxels, rule.class_count);
    std::vector<float> field;
    if (needs_field(rule)) {
        if (calibrator == nullptr)
            fail(ErrorKind::usage,
                 "these outlines were made with `score field`: give the same `calibrator` again");
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

}  // namespace kandinsky
