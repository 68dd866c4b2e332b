#include "report/data/outline_data.hpp"

#include <algorithm>

#include "core/base/fail.hpp"
#include "report/data/blob.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
/// The codes of one image, [class of the rule][pixel]; for a volume, those of the image's slice.
std::vector<std::uint8_t> codes_of(const OutlineRule& rule, const CaseSource& cases, std::size_t image) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::vector<std::size_t> slices = cases.images(i);
        const auto found = std::find(slices.begin(), slices.end(), image);
        if (found == slices.end()) continue;
        const Case one = cases.read(i);
        const std::vector<std::uint8_t> all = outline_case(rule, one);
        const std::size_t pixels = one.extent.height * one.extent.width;
        const auto slice = static_cast<std::size_t>(found - slices.begin());
        std::vector<std::uint8_t> out;
        for (std::size_t c = 0; c < rule.classes.size(); ++c) {
            const std::uint8_t* const from = all.data() + (c * slices.size() + slice) * pixels;
            out.insert(out.end(), from, from + pixels);
        }
        return out;
    }
    fail(ErrorKind::internal, "[report] image {} is in no case", image);
}
}  // namespace

void check_outlines(const OutlineRule& rule, const std::string& name, const Dataset& test) {
    const char* const instead = "'kandinsky outline --contours' draws its outlines";
    if (rule.class_count != test.classes())
        fail(ErrorKind::data, "{} is made for {} classes, but there are {}", name, rule.class_count,
             test.classes());
    if (rule.hard)
        fail(ErrorKind::usage, "{} was made from masks, but a report has probabilities; {}", name, instead);
    if (rule.unit == LengthUnit::millimetre)
        fail(ErrorKind::usage, "{} is in millimetres, but the images of a report are pixels; {}", name,
             instead);
    if (rule.volumes && !test.grouped())
        fail(ErrorKind::usage, "{} is made for volumes; give `groups`, which tell the slices of each volume",
             name);
    for (const ClassOutline& one : rule.classes)
        for (const OutlineLevel& level : {one.outer, one.inner})
            if (level.score.kind == OutlineScore::Kind::field)
                fail(ErrorKind::usage, "{} has `score field`, which a report does not draw; {}", name,
                     instead);
}

ordered_json outlines_json(const ReportInput& input, const std::vector<std::size_t>& images) {
    if (input.outlines == nullptr) return nullptr;
    const OutlineRule& rule = *input.outlines;
    const auto cases = cases_of(*input.test, {.volumes = rule.volumes});
    const Grid grid = input.test->grid();
    ordered_json examples = ordered_json::array(), classes = ordered_json::array();
    for (const std::size_t image : images)
        examples.push_back(blob(codes_of(rule, *cases, image), {rule.classes.size(), grid.height, grid.width},
                                {grid.width}));
    for (const ClassOutline& one : rule.classes) classes.push_back(one.number);
    return {{"guarantee", guarantee(rule)},
            {"alpha", rule.alpha},
            {"share", rule.share},
            {"per", rule.per == OutlineUnit::object ? "object" : "group"},
            {"inner", rule.sides != OutlineSides::outer},
            {"outer", rule.sides != OutlineSides::inner},
            {"size_unit", size_unit(rule)},
            {"classes", std::move(classes)},
            {"test", ordered_json::parse(to_json(rule, judge_outlines(rule, *cases)))},
            {"examples", std::move(examples)}};
}

}  // namespace kandinsky
