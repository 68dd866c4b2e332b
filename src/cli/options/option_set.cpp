#include "cli/options/option_set.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/fail.hpp"

namespace kandinsky::cli {

namespace {
std::string check_whole(std::string& text, bool negative) {
    const bool minus = negative && text.starts_with('-');
    const std::size_t first = minus ? 1 : 0;
    if (text.size() == first || text.find_first_not_of("0123456789", first) != std::string::npos)
        return fmt::format("'{}' is not a whole number{}", text, negative ? "" : " from 0 up");
    text.erase(first, std::min(text.find_first_not_of('0', first), text.size() - 1) - first);
    return {};
}

std::string check_real(const std::string& text) {
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    return unless(status == std::errc() && end == last && std::isfinite(value),
                  fmt::format("'{}' is not a number", text));
}
}  // namespace

OptionSet::OptionSet(const std::string& summary, const std::string& name) : CLI::App(summary, name) {
    option_defaults()->always_capture_default();
}

OptionSet& OptionSet::add_to(CLI::App& root, const std::string& name, const std::string& summary) {
    const auto made = std::make_shared<OptionSet>(summary, name);
    root.add_subcommand(made);
    return *made;
}

CLI::Option* OptionSet::counts_unless(CLI::Option* option, Why why) {
    rules_.emplace_back(option, std::move(why));
    return option;
}

void OptionSet::counts_unless(const Why& why, const std::function<void()>& declare) {
    const std::size_t first = get_options().size();
    declare();
    const std::vector<CLI::Option*> all = get_options();
    for (std::size_t i = first; i < all.size(); ++i) counts_unless(all[i], why);
}

CLI::Option* OptionSet::input(const std::string& flag, std::string& value, const std::string& type,
                              const std::string& help) {
    inputs_.push_back(add_option(flag, value, help)->type_name(type));
    return inputs_.back();
}

CLI::Option* OptionSet::output(const std::string& flag, std::string& value, const std::string& type,
                               const std::string& help) {
    outputs_.push_back(add_option(flag, value, help)->type_name(type));
    return outputs_.back();
}

void OptionSet::check_numbers() {
    for (CLI::Option* const option : get_options()) {
        const std::string type = option->get_type_name();
        const bool whole = type.starts_with("INT");
        if (whole || type.starts_with("UINT"))
            option->transform(
                CLI::Validator([whole](std::string& text) { return check_whole(text, whole); }, ""));
        else if (type.starts_with("FLOAT"))
            option->transform(CLI::Validator([](std::string& text) { return check_real(text); }, ""));
    }
}

void OptionSet::check_call() const {
    for (const CLI::Option* const option : get_options()) {
        const auto& words = option->results();
        if (std::find(words.begin(), words.end(), "") != words.end())
            fail(ErrorKind::usage, "{} is empty; give a value or leave the option out", option->get_name());
    }
    for (const auto& [option, why] : rules_) {
        if (option->count() == 0) continue;
        if (const std::string reason = why(); !reason.empty())
            fail(ErrorKind::usage, "{} has no effect: {}", option->get_name(), reason);
    }
}

OptionSet::Files OptionSet::given(const std::vector<CLI::Option*>& options) {
    Files out;
    for (const CLI::Option* const option : options)
        for (const std::string& value : option->results()) out.emplace_back(option->get_name(), value);
    return out;
}

}  // namespace kandinsky::cli
