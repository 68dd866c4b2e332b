#include <cmath>
#include <kandinsky/outline.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "outline/shared_rule.hpp"
#include "outline/words.hpp"

namespace kandinsky {

namespace {
constexpr const char* kFormat = "kandinsky outlines";
constexpr const char* kSides[] = {"both", "outer", "inner"};  // in the order of OutlineSides
constexpr double kAll = std::numeric_limits<double>::infinity();

nlohmann::ordered_json json_of(const OutlineLevel& one) {
    nlohmann::ordered_json out{{"score", name_of(one.score)}, {"threshold", one.threshold}};
    // JSON has no infinity.
    if (std::isinf(one.threshold)) out["threshold"] = one.threshold > 0 ? "inf" : "-inf";
    return out;
}

OutlineLevel level_of(const nlohmann::ordered_json& json) {
    const auto& limit = json.at("threshold");
    const double threshold =
        limit.is_string() ? (limit.get<std::string>() == "inf" ? kAll : -kAll) : limit.get<double>();
    return {outline_score(json.at("score").get<std::string>()), threshold};
}

OutlineSides sides_of(const std::string& word) {
    for (std::size_t i = 0; i < std::size(kSides); ++i)
        if (word == kSides[i]) return static_cast<OutlineSides>(i);
    fail(ErrorKind::data, "the sides '{}' are unknown", word);
}
}  // namespace

std::string to_json(const OutlineRule& rule) {
    nlohmann::ordered_json out = outline::rule_json(rule, kFormat);
    out["share"] = rule.share;
    out["sides"] = kSides[static_cast<std::size_t>(rule.sides)];
    out["classes"] = nlohmann::ordered_json::array();
    for (const ClassOutline& one : rule.classes)
        out["classes"].push_back({{"class", one.number},
                                  {"groups", one.groups},
                                  {"groups_without", one.without},
                                  {"choosers", one.choosers},
                                  {"false_inner", one.false_inner},
                                  {"outer", json_of(one.outer)},
                                  {"inner", json_of(one.inner)},
                                  {"object_share", one.object_share},
                                  {"outer_share", one.outer_share},
                                  {"inner_share", one.inner_share}});
    return out.dump(2) + "\n";
}

OutlineRule outline_rule(const std::string& text, const std::string& name) {
    return outline::rule_of<OutlineRule>(
        text, name, kFormat, "outline",
        [](const nlohmann::ordered_json& json, OutlineRule& rule) {
            rule.share = json.at("share").get<double>();
            rule.sides = sides_of(json.at("sides").get<std::string>());
        },
        [](const nlohmann::ordered_json& item) {
            ClassOutline one;
            one.groups = item.at("groups").get<std::size_t>();
            one.without = item.at("groups_without").get<std::size_t>();
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

std::string guarantee(const OutlineRule& rule) {
    const std::string what =
        rule.share == 1 ? rule.sides == OutlineSides::both
                              ? "the inner mask lies in the object and the outer mask holds it"
                          : rule.sides == OutlineSides::outer ? "the outer mask holds the object"
                                                              : "the inner mask lies in the object"
        : rule.sides == OutlineSides::outer
            ? fmt::format("the outer mask holds at least {:g} % of the object", 100 * rule.share)
        : rule.sides == OutlineSides::inner
            ? fmt::format("of the inner mask at most {:g} % of the object's size lies outside it",
                          100 * (1 - rule.share))
            : fmt::format(
                  "the outer mask holds at least {:g} % of the object, and of the inner mask at "
                  "most {:g} % of the object's size lies outside it",
                  100 * rule.share, 100 * (1 - rule.share));
    return fmt::format(
        "guaranteed for a new {0} that has the class, with probability at least {1:g}{2}: {3} (if {0}s are "
        "{4})",
        outline::unit_word(rule.grouped, rule.volumes), 1 - rule.alpha, outline::assured(rule.confidence),
        what, outline::exchangeable(rule.confidence));
}

}  // namespace kandinsky
