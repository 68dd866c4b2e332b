#include <cmath>
#include <kandinsky/outline.hpp>
#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "outline/shared_rule.hpp"
#include "outline/words.hpp"

namespace kandinsky {

namespace {
constexpr const char* kFormat = "kandinsky outlines";
constexpr const char* kSides[] = {"both", "outer", "inner"};   // in the order of OutlineSides
constexpr const char* kPer[] = {"group", "object"};            // in the order of OutlineUnit
constexpr const char* kConnectivity[] = {"corners", "faces"};  // in the order of Connectivity

nlohmann::ordered_json json_of(const OutlineLevel& one) {
    return {{"score", name_of(one.score)}, {"threshold", outline::threshold_json(one.threshold)}};
}

OutlineLevel level_of(const nlohmann::ordered_json& json) {
    return {outline_score(json.at("score").get<std::string>()),
            outline::read_threshold(json.at("threshold"))};
}

/// The enumerator whose word is the value of the field `key`.
template <class Enum, std::size_t N>
Enum read_word(const nlohmann::ordered_json& json, const char* key, const char* const (&words)[N]) {
    const auto word = json.at(key).get<std::string>();
    for (std::size_t i = 0; i < N; ++i)
        if (word == words[i]) return static_cast<Enum>(i);
    fail(ErrorKind::data, "{} '{}' is unknown", key, word);
}

/// The guaranteed property of the masks of a group, in words.
std::string held_by(const OutlineRule& rule) {
    const std::string out = fmt::format("{:g} %", 100 * rule.share),
                      rest = fmt::format("{:g} %", 100 * (1 - rule.share));
    switch (rule.sides) {
        case OutlineSides::outer:
            return rule.share == 1 ? "the outer mask contains the object"
                                   : fmt::format("the outer mask contains at least {} of the object", out);
        case OutlineSides::inner:
            return rule.share == 1
                       ? "the inner mask lies in the object"
                       : fmt::format("the inner mask exceeds the object by at most {} of its size", rest);
        case OutlineSides::both:
            break;
    }
    return rule.share == 1 ? "the inner mask lies in the object, and the outer mask contains it"
                           : fmt::format(
                                 "the outer mask contains at least {} of the object, and "
                                 "the inner mask exceeds the object by at most {} of its size",
                                 out, rest);
}
}  // namespace

std::string to_json(const OutlineRule& rule) {
    nlohmann::ordered_json out = outline::rule_json(rule, kFormat);
    out["share"] = rule.share;
    out["sides"] = kSides[static_cast<std::size_t>(rule.sides)];
    out["per"] = kPer[static_cast<std::size_t>(rule.per)];
    out["connectivity"] = kConnectivity[static_cast<std::size_t>(rule.connectivity)];
    out["classes"] = nlohmann::ordered_json::array();
    for (const ClassOutline& one : rule.classes)
        out["classes"].push_back({{"class", one.number},
                                  {"groups", one.groups},
                                  {"groups_without", one.without},
                                  {"objects", one.objects},
                                  {"choosers", one.choosers},
                                  {"false_inner", one.false_inner},
                                  {"outer", json_of(one.outer)},
                                  {"inner", json_of(one.inner)},
                                  {"object_share", one.object_share},
                                  {"outer_share", one.outer_share},
                                  {"inner_share", one.inner_share}});
    return out.dump(2) + "\n";
}

std::string to_json(const OutlineRule& rule, std::span<const OutlineJudgement> found) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (std::size_t c = 0; c < found.size(); ++c) {
        nlohmann::ordered_json objects = nlohmann::ordered_json::array();
        for (const ObjectCounts& one : found[c].objects)
            objects.push_back({{"largest", std::isinf(one.largest) ? nlohmann::ordered_json(nullptr)
                                                                   : nlohmann::ordered_json(one.largest)},
                               {"objects", one.objects},
                               {"touched", one.touched},
                               {"covered", one.covered}});
        out.push_back({{"class", rule.classes[c].number},
                       {"groups", found[c].groups},
                       {"held", found[c].held},
                       {"found", found[c].found},
                       {"object_share", found[c].object_share},
                       {"outer_share", found[c].outer_share},
                       {"inner_share", found[c].inner_share},
                       {"groups_without", found[c].without},
                       {"false_inner", found[c].false_inner},
                       {"size_unit", size_unit(rule)},
                       {"objects", std::move(objects)}});
    }
    return out.dump(2) + "\n";
}

OutlineRule outline_rule(const std::string& json, const std::string& name) {
    return outline::rule_of<OutlineRule>(
        json, name, kFormat, "outline",
        [](const nlohmann::ordered_json& whole, OutlineRule& rule) {
            rule.share = whole.at("share").get<double>();
            rule.sides = read_word<OutlineSides>(whole, "sides", kSides);
            rule.per = read_word<OutlineUnit>(whole, "per", kPer);
            rule.connectivity = read_word<Connectivity>(whole, "connectivity", kConnectivity);
            const bool touched = rule.share == 0 && rule.per == OutlineUnit::object;
            outline::check_field("share", rule.share, (rule.share > 0 || touched) && rule.share <= 1,
                                 "be above 0 (with 'per' object at least 0) and at most 1");
        },
        [](const nlohmann::ordered_json& item) {
            ClassOutline one;
            one.groups = item.at("groups").get<std::size_t>();
            one.without = item.at("groups_without").get<std::size_t>();
            one.objects = item.at("objects").get<std::size_t>();
            one.choosers = item.at("choosers").get<std::size_t>();
            one.false_inner = item.at("false_inner").get<std::size_t>();
            one.outer = level_of(item.at("outer"));
            one.inner = level_of(item.at("inner"));
            one.object_share = item.at("object_share").get<double>();
            one.outer_share = item.at("outer_share").get<double>();
            one.inner_share = item.at("inner_share").get<double>();
            return one;
        });
}

std::string size_unit(const OutlineRule& rule) {
    return outline::size_unit(rule.unit, rule.volumes);
}

std::string guarantee(const OutlineRule& rule) {
    const char* const unit = outline::unit_word(rule.grouped, rule.volumes);
    if (rule.per == OutlineUnit::object)
        return fmt::format(
            "guaranteed for a new {0} that has the class: on average the outer mask {1} all but at most "
            "{2:g} % of its "
            "objects, the connected parts of the class (if {0}s are exchangeable)",
            unit,
            rule.share == 0   ? std::string("touches")
            : rule.share == 1 ? std::string("contains")
                              : fmt::format("contains at least {:g} % of", 100 * rule.share),
            100 * rule.alpha);
    return fmt::format(
        "guaranteed for a new {0} that has the class, with probability at least {1:g}{2}: {3} (if {0}s are "
        "{4})",
        unit, 1 - rule.alpha, outline::assured(rule.confidence), held_by(rule),
        outline::exchangeable(rule.confidence));
}

}  // namespace kandinsky
