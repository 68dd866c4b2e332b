#pragma once

#include "cli/options/option_set.hpp"
#include "cli/process/outputs.hpp"
#include "report/data/report_input.hpp"

namespace kandinsky::cli {

/// --report (or -o), --figures, --class-names and --title: what the commands that can draw have in common.
struct ReportFlags {
    std::string page, figures, class_names, title;
    bool has_default_page = false;  ///< a page is written even if none is named

    void declare(OptionSet& app);  ///< all but the page's own flag
    [[nodiscard]] bool wanted() const { return !page.empty() || !figures.empty(); }
    /// Refuses what could not be written at the end, before the work starts.
    void check(std::size_t classes) const;
    /// Fills in title and class names, then writes the page to the output of `flag` and the figures.
    void write(ReportInput input, const Tally& tally, const Outputs& outputs, const std::string& flag) const;
};

}  // namespace kandinsky::cli
