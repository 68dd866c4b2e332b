#pragma once

#include <kandinsky/cases.hpp>

#include "io/folder/folder_dataset.hpp"

namespace kandinsky {

/// How folders of files become cases, each on its own grid.
struct FolderCasesOptions {
    /// `fit`, `padding`, `only_annotated` and `bad_files` have no effect.
    FolderOptions folder;
    std::string predictions;  ///< probabilities, or predicted labels (`hard`)
    std::string labels;       ///< the truth; empty: none
    bool hard = false;        ///< there are no probabilities
    /// Number of classes of predicted labels; 0: the number of true masks or, without masks, the largest
    /// label of predictions and truth + 1; at least 2.
    std::size_t classes = 0;
    Spacing spacing{0, 0, 0};  ///< overrides the files' spacing; 0: the files' spacing
    /// Groups for the cases in `group_names` or, if that is empty, for all cases in the order of their names.
    /// Without groups, `group_by` determines the group of each case.
    std::vector<std::int64_t> groups{};
    std::vector<std::string> group_names{};
};

/// Cases from folders. Results can be written in the format of the input.
class FolderCases final : public CaseSource {
  public:
    /// Throws Error that lists the files which cannot be used. Throws a data error if the files or the groups
    /// do not fit together.
    explicit FolderCases(FolderCasesOptions options);

    [[nodiscard]] std::size_t size() const override { return pairs_.size(); }
    [[nodiscard]] std::size_t classes() const override { return classes_; }
    [[nodiscard]] bool labelled() const override { return labels_ != nullptr; }
    [[nodiscard]] std::int64_t group(std::size_t i) const override { return groups_[i]; }
    [[nodiscard]] std::string name(std::size_t i) const override { return pairs_[i].name; }
    [[nodiscard]] LengthUnit unit() const override { return unit_; }
    [[nodiscard]] bool volumes() const override { return volumes_; }
    [[nodiscard]] Case read(std::size_t i) const override;

    /// Writes one number per voxel, [plane][voxel], as the input's format stores sets.
    void write(std::size_t i, const std::vector<std::uint8_t>& planes,
               const std::filesystem::path& folder) const;

  private:
    [[nodiscard]] const ItemInfo& info(std::size_t i) const { return source_->items()[pairs_[i].probs]; }
    void number_groups();
    void find_spacing();

    FolderCasesOptions options_;
    std::unique_ptr<ImageSource> source_, labels_;
    std::vector<Pair> pairs_;
    std::vector<std::int64_t> groups_;
    std::size_t classes_ = 0;
    LengthUnit unit_ = LengthUnit::pixel;
    bool volumes_ = false;
};

}  // namespace kandinsky
