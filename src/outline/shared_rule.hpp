#pragma once

#include <algorithm>
#include <kandinsky/cases.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/fail.hpp"

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
    for (const std::uint32_t cls : asked)
        if (cls >= classes)
            fail(ErrorKind::usage, "--classes has {}, but there are classes 0 to {}", cls, classes - 1);
        else if (std::count(asked.begin(), asked.end(), cls) > 1)
            fail(ErrorKind::usage, "--classes has {} more than once", cls);
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

/// Reads a rule from JSON. `command` is the command that writes the format. `read(json, rule)` reads the
/// fields of one kind of rule, `read_class(item)` a class. Throws a data error that begins with `name`.
template <class Rule, class Read, class ReadClass>
[[nodiscard]] Rule rule_of(const std::string& text, const std::string& name, const char* format,
                           const char* command, Read&& read, ReadClass&& read_class) {
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", nlohmann::ordered_json()) != format)
        fail(ErrorKind::data, "{} is not a rule of 'kandinsky {}'; save one first", name, command);
    try {
        if (json.at("version").get<int>() > kRuleVersion)
            fail(ErrorKind::data, "it was written by a newer version of kandinsky");
        Rule out;
        out.alpha = json.at("alpha").get<double>();
        out.confidence = json.at("confidence").get<double>();
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
