#pragma once

#include "cli/options/option_set.hpp"
#include "cli/process/outputs.hpp"
#include "report/data/report_input.hpp"

namespace kandinsky::cli {

/// --report (or -o), --figures, --class-names and --title: the common options of commands with a report.
struct ReportFlags {
    std::string page, figures, class_names, title;
    bool has_default_page = false;  ///< a page is written even without the option

    void declare(OptionSet& app);  ///< all options except that of the page
    [[nodiscard]] bool wanted() const { return !page.empty() || !figures.empty(); }
    /// Refuses outputs that could not be written at the end. Call before the work starts.
    void check(std::size_t classes) const;
    /// Fills in title and class names. Writes the page to the output of `flag`, if there is one, and adds the
    /// figures to the outputs. The caller commits them.
    void write(ReportInput input, const Tally& tally, Outputs& outputs, const std::string& flag) const;
};

}  // namespace kandinsky::cli
