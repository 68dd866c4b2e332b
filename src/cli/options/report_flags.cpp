#include "cli/options/report_flags.hpp"

#include "cli/options/words.hpp"
#include "cli/process/ranks.hpp"
#include "report/figure/figures.hpp"
#include "report/page/page.hpp"
#include "report/page/report_data.hpp"

namespace kandinsky::cli {

namespace {
std::string quoted(const std::string& word) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                            "UVWXYZ0123456789_-+=./:,@%") == std::string::npos;
    if (plain) return word;
    std::string out = "'";
    for (const char letter : word) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return out + "'";
}

/// The command line, quoted for a shell.
std::string command_line() {
    std::string line = arguments().empty() ? "" : "kandinsky";
    for (std::size_t i = 0; i < arguments().size(); ++i) {
        const std::string& word = arguments()[i];
        // --threads and --quiet are left out, because the file must be the same for any number of threads.
        if (word == "--threads") ++i;
        if (word == "-q" || word == "--quiet" || word.starts_with("--threads")) continue;
        line += " " + quoted(word);
    }
    return line;
}
}  // namespace

void ReportFlags::declare(OptionSet& app) {
    app.output("--figures", figures, "DIR", "write the maps as PNG and the plots as SVG into this folder");
    app.counts_unless([this] { return unless(!page.empty() || has_default_page, "no report is written"); },
                      [&] {
                          app.add_option("--class-names", class_names,
                                         "names of the classes for the report, separated by commas");
                          app.add_option("--title", title, "title of the report");
                      });
}

void ReportFlags::check(std::size_t classes) const {
    (void)class_labels(split(class_names, ','), classes);
    if (!page.empty()) require_report_template();
}

void ReportFlags::write(ReportInput input, const Tally& tally, Outputs& outputs,
                        const std::string& flag) const {
    input.class_names = split(class_names, ',');
    if (!title.empty()) input.title = title;
    input.provenance["command"] = command_line();
    if (outputs.has(flag)) outputs.file(flag).write(report_page(report_data(input, tally)));
    if (figures.empty()) return;
    make_folder(figures);
    for (const auto& [name, bytes] : kandinsky::figures(input, tally))
        outputs.add(std::filesystem::path(figures) / name).write(bytes);
}

}  // namespace kandinsky::cli
