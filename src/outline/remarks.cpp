#include "outline/remarks.hpp"

#include <fmt/format.h>

#include "outline/nested.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kNearlyAll = 0.9;  // a mask with more than this share of the image is not informative
constexpr double kMuchLess = 0.5;   // a mask with less than this share of the objects understates their sizes

/// A confidence, in words.
std::string with(double confidence) {
    return confidence > 0 ? fmt::format(" with confidence {:g}", confidence) : "";
}
}  // namespace

std::vector<std::string> remarks(const OutlineRule& rule) {
    std::vector<std::string> out;
    const Assurance wanted{rule.alpha, rule.confidence};
    const std::size_t needed = least_groups(rule.sides == OutlineSides::both ? wanted.halved() : wanted);
    for (const ClassOutline& one : rule.classes) {
        if (one.groups < needed)
            out.push_back(fmt::format(
                "class {}: {} calibration groups have it, but alpha {}{}{} needs {}; its outer mask is the "
                "whole image and its inner mask is empty. More groups{} or a larger alpha help",
                one.number, one.groups, rule.alpha, with(rule.confidence),
                rule.sides == OutlineSides::both ? " for both masks" : "", needed,
                rule.sides == OutlineSides::both ? ", one mask (`sides outer`)" : ""));
        if (one.groups >= needed && rule.sides != OutlineSides::inner && one.outer_share > kNearlyAll)
            out.push_back(fmt::format(
                "class {}: the outer mask is nearly the whole image, since in some calibration groups the "
                "object extends far beyond what the model finds; {}{}or a larger alpha help",
                one.number, rule.share < 1 ? "a smaller `share`, " : "`share 0.95`, ",
                rule.volumes ? "" : "whole volumes in place of slices (`volumes`), "));
        if (rule.per == OutlineUnit::object && rule.share == 0 && one.groups >= needed &&
            one.outer_share < kMuchLess * one.object_share)
            out.push_back(fmt::format(
                "class {}: one voxel of an object is enough, so the outer mask is much smaller than the "
                "objects; `share 0.5` asks for half of each object",
                one.number));
        if (one.false_inner > 0)
            out.push_back(
                fmt::format("class {}: the guarantee does not cover groups without the class; {} of {} such "
                            "calibration groups get an inner mask",
                            one.number, one.false_inner, one.without));
    }
    return out;
}

std::vector<std::string> remarks(const MeasureRule& rule) {
    const std::size_t needed = least_groups({rule.alpha, rule.confidence});
    if (rule.groups >= needed) return {};
    return {
        fmt::format("there are {} calibration groups, but alpha {}{} needs {}: intervals are unbounded; give "
                    "more groups or a larger alpha",
                    rule.groups, rule.alpha, with(rule.confidence), needed)};
}

}  // namespace kandinsky::outline
