#pragma once

#include <kandinsky/cases.hpp>

#include "cli/options/shared_flags.hpp"
#include "io/folder/folder_cases.hpp"

namespace kandinsky::cli {

/// The text of a rule that an earlier call saved.
[[nodiscard]] std::string read_rule(const std::string& path);

/// The common options of the commands about whole objects: labelled images to calibrate on and new images,
/// from arrays or folders, with probabilities or only with masks.
struct CaseFlags {
    InputFlags cal, fresh;  ///< `fresh` is read with the reading options of `cal`
    std::string cal_masks, masks, spacing, rule, save;
    bool volumes = false;

    /// `verb`: the verb for new images in help texts, such as "outline".
    void declare(OptionSet& app, const std::string& verb);
    [[nodiscard]] bool calibrates() const { return rule.empty(); }
    [[nodiscard]] bool applies() const { return !fresh.probs.empty() || !masks.empty(); }
    [[nodiscard]] bool hard() const { return !cal_masks.empty() || !masks.empty(); }
    /// Whether the new images are folders; without new images, whether the calibration images are.
    [[nodiscard]] bool folders() const;
    /// Refuses calls in which an input is missing or given twice.
    void check() const;

    /// The calibration cases, or the new cases; FolderCases if they are in a folder. `classes`: the number of
    /// classes of masks; 0: as many as occur.
    [[nodiscard]] std::unique_ptr<CaseSource> calibration() const;
    [[nodiscard]] std::unique_ptr<CaseSource> images(std::size_t classes) const;
    /// Refuses new images that differ from those of the rule in the number of classes, the unit of length or
    /// the dimensions, or are masks instead of probabilities or the reverse.
    void check_fits(const CaseSource& images, std::size_t classes, LengthUnit unit, bool rule_volumes,
                    bool rule_hard) const;
    [[nodiscard]] std::string rule_text() const { return read_rule(rule); }  ///< the text of --rule

  private:
    /// Returns the cases. Throws if --spacing is given without one number for each of their dimensions.
    [[nodiscard]] std::unique_ptr<CaseSource> spaced(std::unique_ptr<CaseSource> cases) const;
    [[nodiscard]] std::unique_ptr<CaseSource> open(const InputFlags& input, const std::string& predicted,
                                                   std::size_t classes) const;
    [[nodiscard]] Spacing spacing_mm() const;  ///< zeros if none is given
};

/// Declares --confidence.
void declare_confidence(OptionSet& app, double& confidence);

}  // namespace kandinsky::cli
