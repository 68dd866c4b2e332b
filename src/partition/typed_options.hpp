#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "partition/method.hpp"

namespace kandinsky {

/// The values of a method's typed options as words: one (flag, value) for each declared option except arrays,
/// in the order of the declarations. Each method's folder defines its own.
using OptionWords = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] OptionWords words_of(const KmeansOptions& options);
[[nodiscard]] OptionWords words_of(const GenannOptions& options);
[[nodiscard]] OptionWords words_of(const FccOptions& options);
[[nodiscard]] OptionWords words_of(const FieldOptions& options);

[[nodiscard]] inline std::string word(std::uint32_t value) {
    return fmt::format("{}", value);
}
/// The shortest text that is read as the same number.
[[nodiscard]] inline std::string word(double value) {
    return fmt::format("{}", value);
}
[[nodiscard]] inline std::string on_or_off(bool value) {
    return value ? "on" : "off";
}
/// "auto" without a value.
template <class Number>
[[nodiscard]] std::string word_or_auto(const std::optional<Number>& value) {
    return value ? word(*value) : "auto";
}

/// The method with those words that differ from the defaults.
template <class Options>
[[nodiscard]] MethodChoice choice_of(const Method& method, const Options& options) {
    MethodChoice choice(method.name);
    const OptionWords standard = words_of(Options{}), given = words_of(options);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] != standard[i]) choice.settings.text.insert(given[i]);
    return choice;
}

}  // namespace kandinsky
