#pragma once

#include <kandinsky/cases.hpp>

#include "cli/options/shared_flags.hpp"
#include "io/folder/folder_cases.hpp"

namespace kandinsky::cli {

/// The text of a rule that an earlier call saved.
[[nodiscard]] std::string read_rule(const std::string& path);

/// Labelled images to calibrate on and new ones, from arrays or folders, with probabilities or with masks
/// alone: what the commands about whole objects have in common.
struct CaseFlags {
    InputFlags cal, fresh;  ///< the reading options are those of `cal`
    std::string cal_masks, masks, spacing, rule, save;
    bool volumes = false;

    /// `verb`: what is done to new images, as in "outline".
    void declare(OptionSet& app, const std::string& verb);
    [[nodiscard]] bool calibrates() const { return rule.empty(); }
    [[nodiscard]] bool applies() const { return !fresh.probs.empty() || !masks.empty(); }
    [[nodiscard]] bool hard() const { return !cal_masks.empty() || !masks.empty(); }
    [[nodiscard]] bool folders() const;  ///< new images, or else calibration images, are folders of files
    /// Refuses calls in which something is missing or twice.
    void check() const;

    /// Either source; FolderCases where it is a folder. `classes`: of masks, 0: as many as there are.
    [[nodiscard]] std::unique_ptr<CaseSource> calibration() const;
    [[nodiscard]] std::unique_ptr<CaseSource> images(std::size_t classes) const;
    /// Refuses new images whose classes, lengths or dimensions are not those of the rule.
    void check_fits(const CaseSource& images, std::size_t classes, LengthUnit unit, bool rule_volumes,
                    bool rule_hard) const;
    [[nodiscard]] std::string rule_text() const { return read_rule(rule); }  ///< of --rule

  private:
    /// The cases, if --spacing has as many numbers as they have dimensions.
    [[nodiscard]] std::unique_ptr<CaseSource> spaced(std::unique_ptr<CaseSource> cases) const;
    [[nodiscard]] std::unique_ptr<CaseSource> open(const InputFlags& input, const std::string& predicted,
                                                   std::size_t classes) const;
    [[nodiscard]] Spacing spacing_mm() const;  ///< zeros where none is given
};

/// Declares --confidence.
void declare_confidence(OptionSet& app, double& confidence);

}  // namespace kandinsky::cli
