#include "calibrate/choose.hpp"

#include <algorithm>

#include "calibrate/cross_loss.hpp"
#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
constexpr std::string_view kAsk = "auto";

std::string value_of(const MethodOption& option, const MethodSettings& settings) {
    const auto given = settings.text.find(option.flag);
    return given != settings.text.end() ? given->second : option.standard;
}

bool is_open(const MethodOption& option, const MethodSettings& settings) {
    return !option.trials.empty() && value_of(option, settings) == kAsk;
}

bool needs_array(const Method& method) {
    return std::any_of(method.options.begin(), method.options.end(),
                       [](const MethodOption& option) { return option.type == MethodOption::Type::array; });
}

void add_contenders(const Method& method, const MethodSettings& settings, std::vector<Contender>& all) {
    std::vector<Contender> own{{.method = &method, .settings = settings, .tuned = {}}};
    for (const MethodOption& option : method.options) {
        if (!is_open(option, settings)) continue;
        std::vector<Contender> more;
        for (const Contender& one : own)
            for (const std::string& trial : option.trials) {
                more.push_back(one);
                more.back().settings.text[option.flag] = trial;
                more.back().tuned[option.flag] = trial;
            }
        own = std::move(more);
    }
    all.insert(all.end(), own.begin(), own.end());
}

/// The place of the contender to take, and why.
std::pair<std::size_t, std::string> verdict(const std::vector<Contender>& all, const CrossLoss& found) {
    const auto is_soft = [](const Contender& one) { return one.method->fit_curves != nullptr; };
    if (found.folds == 0) {
        const auto soft = std::find_if(all.begin(), all.end(), is_soft);
        return {soft == all.end() ? 0 : static_cast<std::size_t>(soft - all.begin()),
                "too few images have the class to judge by"};
    }
    const auto least =
        static_cast<std::size_t>(std::min_element(found.loss.begin(), found.loss.end()) - found.loss.begin());
    if (is_soft(all[least])) return {least, "it has the least loss"};
    for (std::size_t k = 0; k < all.size(); ++k)
        if (is_soft(all[k]) && found.loss[k] <= (1 + kNearTie) * found.loss[least])
            return {k, fmt::format("its loss is within {:.0f} % of the least, and it needs no regions",
                                   100 * kNearTie)};
    return {least, "it has the least loss"};
}

Choice choice_among(const std::vector<Contender>& all, const CrossLoss& found) {
    Choice choice;
    for (std::size_t k = 0; k < all.size(); ++k)
        choice.judged.push_back({all[k].method->name, all[k].tuned, found.loss[k]});
    const auto [taken, reason] = verdict(all, found);
    choice.method = all[taken].method->name;
    choice.tuned = all[taken].tuned;
    choice.reason = reason;
    choice.folds = found.folds;
    return choice;
}
}  // namespace

std::string label_of(const std::string& method, const std::map<std::string, std::string>& tuned) {
    std::string label = method;
    for (const auto& [flag, value] : tuned) label += " " + value;
    return label;
}

bool has_choice(const CalibrateOptions& options) {
    if (options.method == kAutoMethod) return true;
    const Method& how = method(options.method);
    return std::any_of(how.options.begin(), how.options.end(),
                       [&](const MethodOption& option) { return is_open(option, options.settings); });
}

void settle_defaults(CalibrateOptions& options) {
    for (const Method* one : methods())
        if (options.method == kAutoMethod || options.method == one->name)
            for (const MethodOption& option : one->options)
                if (is_open(option, {})) options.settings.text.emplace(option.flag, option.paper);
}

std::vector<Contender> contenders(const CalibrateOptions& options) {
    std::vector<Contender> all;
    if (options.method != kAutoMethod) {
        add_contenders(method(options.method), options.settings, all);
    } else {
        // Choosing the number of each method's regions as well would cost several times as much, and those
        // that need no number win.
        CalibrateOptions settled = options;
        settle_defaults(settled);
        for (const Method* one : methods())
            if (!needs_array(*one)) add_contenders(*one, settled.settings, all);
    }
    return all;
}

std::vector<std::vector<Choice>> choose(const Dataset& data, const Census& census,
                                        const std::vector<CalibrateOptions>& options, Progress& progress) {
    std::vector<std::vector<Contender>> own;
    std::vector<Contender> all;
    for (const CalibrateOptions& one : options) {
        own.push_back(contenders(one));
        all.insert(all.end(), own.back().begin(), own.back().end());
    }
    std::vector<std::vector<Choice>> choices(options.size());
    for (const CrossLoss& found : cross_losses(data, census, options.front(), all, progress)) {
        auto next = found.loss.begin();
        for (std::size_t m = 0; m < options.size(); ++m) {
            const auto end = next + static_cast<std::ptrdiff_t>(own[m].size());
            choices[m].push_back(choice_among(own[m], {.loss = {next, end}, .folds = found.folds}));
            next = end;
        }
    }
    return choices;
}

}  // namespace kandinsky
