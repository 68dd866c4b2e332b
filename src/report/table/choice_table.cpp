#include "report/table/choice_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kandinsky {

namespace {
std::string class_name(const Calibrator& calibrator, std::size_t stratum) {
    return calibrator.strata() == 1 ? "all" : std::to_string(stratum);
}
}  // namespace

std::string choice_sentence(const Calibrator& calibrator) {
    struct Verdict {
        std::string text;
        std::vector<std::string> classes;
    };
    std::vector<Verdict> verdicts;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Choice& one = calibrator.choices[s];
        const std::string name = label_of(one.method, one.tuned);
        auto known = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
            return verdict.text == name + "\n" + one.reason;
        });
        if (known == verdicts.end())
            known = verdicts.insert(verdicts.end(), Verdict{name + "\n" + one.reason, {}});
        known->classes.push_back(class_name(calibrator, s));
    }
    std::string out = "Chosen by cross-validation: ";
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const std::size_t at = verdicts[i].text.find('\n');
        out += fmt::format("{}{}{} ({})", i > 0 ? "; " : "", verdicts[i].text.substr(0, at),
                           calibrator.strata() == 1 ? ""
                           : verdicts.size() == 1
                               ? " for every class"
                               : fmt::format(" for class{} {}", verdicts[i].classes.size() > 1 ? "es" : "",
                                             fmt::join(verdicts[i].classes, ", ")),
                           verdicts[i].text.substr(at + 1));
    }
    return out + ".";
}

std::string choice_table(const Calibrator& calibrator) {
    std::vector<std::string> names;
    for (const JudgedMethod& one : calibrator.choices.front().judged)
        names.push_back(label_of(one.method, one.tuned));
    std::string out = fmt::format("{:<8}", "class");
    for (const std::string& name : names)
        out += fmt::format("{:>{}}", name, std::max<std::size_t>(10, name.size() + 2));
    out += "\n";
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Choice& choice = calibrator.choices[s];
        out += fmt::format("{:<8}", class_name(calibrator, s));
        for (std::size_t k = 0; k < choice.judged.size(); ++k) {
            const JudgedMethod& one = choice.judged[k];
            const bool taken = one.method == choice.method && one.tuned == choice.tuned;
            out += fmt::format(
                "{:>{}}", (choice.folds > 0 ? fmt::format("{:.5f}", one.loss) : "-") + (taken ? "*" : " "),
                std::max<std::size_t>(10, names[k].size() + 2));
        }
        out += "\n";
    }
    return out + "(cross-validated loss, lower is better; * chosen)\n" + choice_sentence(calibrator) + "\n";
}

}  // namespace kandinsky
