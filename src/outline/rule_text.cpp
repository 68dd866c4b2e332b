#include <cmath>
#include <kandinsky/outline.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "outline/words.hpp"

namespace kandinsky {

namespace {
constexpr const char* kFormat = "kandinsky outlines";
constexpr int kVersion = 1;
constexpr const char* kSides[] = {"both", "outer", "inner"};  // in the order of OutlineSides
constexpr const char* kUnits[] = {"pixel", "millimetre"};     // in the order of LengthUnit
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

template <std::size_t kCount>
std::size_t place_of(const nlohmann::ordered_json& word, const char* const (&known)[kCount]) {
    for (std::size_t i = 0; i < kCount; ++i)
        if (word.get<std::string>() == known[i]) return i;
    fail(ErrorKind::data, "'{}' is unknown", word.get<std::string>());
}
}  // namespace

std::string to_json(const OutlineRule& rule) {
    nlohmann::ordered_json out{{"format", kFormat},
                               {"version", kVersion},
                               {"guarantee", guarantee(rule)},
                               {"alpha", rule.alpha},
                               {"confidence", rule.confidence},
                               {"share", rule.share},
                               {"sides", kSides[static_cast<std::size_t>(rule.sides)]},
                               {"masks_only", rule.hard},
                               {"unit", kUnits[static_cast<std::size_t>(rule.unit)]},
                               {"volumes", rule.volumes},
                               {"class_count", rule.class_count},
                               {"groups", rule.groups},
                               {"grouped", rule.grouped},
                               {"classes", nlohmann::ordered_json::array()}};
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
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", nlohmann::ordered_json()) != kFormat)
        fail(ErrorKind::data, "{} is no outline rule: 'kandinsky outline --save' writes one", name);
    try {
        if (json.at("version").get<int>() > kVersion)
            fail(ErrorKind::data, "it was written by a newer version of kandinsky");
        OutlineRule out;
        out.alpha = json.at("alpha").get<double>();
        out.confidence = json.at("confidence").get<double>();
        out.share = json.at("share").get<double>();
        out.sides = static_cast<OutlineSides>(place_of(json.at("sides"), kSides));
        out.hard = json.at("masks_only").get<bool>();
        out.unit = static_cast<LengthUnit>(place_of(json.at("unit"), kUnits));
        out.volumes = json.at("volumes").get<bool>();
        out.class_count = json.at("class_count").get<std::size_t>();
        out.groups = json.at("groups").get<std::size_t>();
        out.grouped = json.at("grouped").get<bool>();
        for (const auto& item : json.at("classes")) {
            ClassOutline one;
            one.number = item.at("class").get<std::uint32_t>();
            one.groups = item.at("groups").get<std::size_t>();
            one.without = item.at("groups_without").get<std::size_t>();
            one.choosers = item.at("choosers").get<std::size_t>();
            one.false_inner = item.at("false_inner").get<std::size_t>();
            one.outer = level_of(item.at("outer"));
            one.inner = level_of(item.at("inner"));
            one.object_share = item.at("object_share").get<double>();
            one.outer_share = item.at("outer_share").get<double>();
            one.inner_share = item.at("inner_share").get<double>();
            if (one.number >= out.class_count)
                fail(ErrorKind::data, "class {} is none of {}", one.number, out.class_count);
            out.classes.push_back(std::move(one));
        }
        if (out.classes.empty()) fail(ErrorKind::data, "it has no class");
        return out;
    } catch (const nlohmann::json::exception&) {
        fail(ErrorKind::data, "{} is damaged: a field is missing or of another kind", name);
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", name, problem.what());
    }
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
