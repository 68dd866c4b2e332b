#pragma once

#include <algorithm>
#include <cmath>
#include <kandinsky/cases.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/fail.hpp"
#include "core/base/json_depth.hpp"

namespace kandinsky::outline {

// Common code that makes, writes and reads the rules of outlines and of measures.

/// The given classes, or all except 0. Throws a usage error for a class that does not exist or is given
/// twice.
[[nodiscard]] inline std::vector<std::uint32_t> chosen_classes(std::vector<std::uint32_t> asked,
                                                               std::size_t classes) {
    if (asked.empty()) {
        asked.resize(classes - 1);
        std::iota(asked.begin(), asked.end(), 1u);
    }
    std::vector<std::uint32_t> sorted = asked;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
        fail(ErrorKind::usage, "`classes` has {} more than once", *twice);
    if (!sorted.empty() && sorted.back() >= classes)
        fail(ErrorKind::usage, "`classes` has {}, but there are classes 0 to {}", sorted.back(), classes - 1);
    return asked;
}

/// A rule with the fields that options and cases determine; groups and classes are set later.
template <class Rule, class Options>
[[nodiscard]] Rule begun_rule(const Options& options, const CaseSource& cases) {
    Rule out;
    out.alpha = options.alpha;
    out.confidence = options.confidence;
    out.hard = options.hard;
    out.unit = cases.unit();
    out.volumes = cases.volumes();
    out.class_count = cases.classes();
    return out;
}

constexpr int kRuleVersion = 1;  ///< of both formats

/// The fields that both kinds of rule have, except the classes.
template <class Rule>
[[nodiscard]] nlohmann::ordered_json rule_json(const Rule& rule, const char* format) {
    return {{"format", format},
            {"version", kRuleVersion},
            {"guarantee", guarantee(rule)},
            {"alpha", rule.alpha},
            {"confidence", rule.confidence},
            {"masks_only", rule.hard},
            {"unit", rule.unit == LengthUnit::millimetre ? "millimetre" : "pixel"},
            {"volumes", rule.volumes},
            {"class_count", rule.class_count},
            {"groups", rule.groups},
            {"grouped", rule.grouped}};
}

/// Throws a data error that names the field of a rule's file unless its value is valid.
inline void check_field(const char* field, double value, bool valid, const char* range) {
    if (!valid) fail(ErrorKind::data, "{} is {}, but must {}", field, value, range);
}

/// A threshold in a rule's file. JSON has no infinity, so an infinite threshold is a text.
[[nodiscard]] inline nlohmann::ordered_json threshold_json(double threshold) {
    if (std::isinf(threshold)) return threshold > 0 ? "inf" : "-inf";
    return threshold;
}
[[nodiscard]] inline double read_threshold(const nlohmann::ordered_json& json) {
    if (!json.is_string()) return json.get<double>();
    const auto text = json.get<std::string>();
    if (text != "inf" && text != "-inf")
        fail(ErrorKind::data, "threshold is '{}', but must be a number, 'inf' or '-inf'", text);
    return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

/// Reads a rule from JSON. `command` is the command that writes the format. `read(json, rule)` reads the
/// fields of one kind of rule, `read_class(item)` a class. Throws a data error that begins with `name`.
template <class Rule, class Read, class ReadClass>
[[nodiscard]] Rule rule_of(const std::string& text, const std::string& name, const char* format,
                           const char* command, Read&& read, ReadClass&& read_class) {
    if (nests_deeper(text)) fail(ErrorKind::data, "{} nests deeper than {}", name, kJsonDepth);
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", nlohmann::ordered_json()) != format)
        fail(ErrorKind::data, "{} is not a rule of 'kandinsky {}'; save one first", name, command);
    if (const auto version = json.value("version", nlohmann::ordered_json());
        version.is_number() && version > kRuleVersion)
        fail(ErrorKind::data, "{} was written by a newer version of kandinsky; update kandinsky", name);
    try {
        (void)json.at("version").get<int>();
        Rule out;
        out.alpha = json.at("alpha").get<double>();
        check_field("alpha", out.alpha, out.alpha > 0 && out.alpha < 1, "lie between 0 and 1");
        out.confidence = json.at("confidence").get<double>();
        check_field("confidence", out.confidence, out.confidence >= 0 && out.confidence < 1,
                    "be at least 0 and below 1");
        out.hard = json.at("masks_only").get<bool>();
        const auto unit = json.at("unit").get<std::string>();
        if (unit != "pixel" && unit != "millimetre") fail(ErrorKind::data, "the unit '{}' is unknown", unit);
        out.unit = unit == "pixel" ? LengthUnit::pixel : LengthUnit::millimetre;
        out.volumes = json.at("volumes").get<bool>();
        out.class_count = json.at("class_count").get<std::size_t>();
        out.groups = json.at("groups").get<std::size_t>();
        out.grouped = json.at("grouped").get<bool>();
        read(json, out);
        for (const auto& item : json.at("classes")) {
            out.classes.push_back(read_class(item));
            out.classes.back().number = item.at("class").template get<std::uint32_t>();
            if (out.classes.back().number >= out.class_count)
                fail(ErrorKind::data, "class {} is not one of {}", out.classes.back().number,
                     out.class_count);
        }
        if (out.classes.empty()) fail(ErrorKind::data, "it has no class");
        return out;
    } catch (const nlohmann::ordered_json::exception&) {
        fail(ErrorKind::data, "{} is damaged: a field is missing or of another kind", name);
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", name, problem.what());
    }
}

}  // namespace kandinsky::outline
