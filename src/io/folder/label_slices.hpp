#pragma once

#include "io/image/grid_fit.hpp"
#include "io/source/source.hpp"

namespace kandinsky {

struct FolderOptions;

/// Which labels are allowed, and how they are stored.
struct LabelRules {
    GridFit fit;
    std::int32_t pad = 0;              ///< the label of padding
    std::vector<std::int64_t> ignore;  ///< padding's label included
    std::size_t classes = 0;           ///< labels must be below this or ignored; 0: all labels are allowed
    bool wide = false;                 ///< stored as int32 instead of uint8
};

/// The rules for `count` items on the common grid. `planes`: number of masks of each item, or 0. If padding
/// is ignored, its label is one of the ignored labels or a new label. Throws a usage error if padding of
/// masks must be ignored, because masks have no ignored pixels.
[[nodiscard]] LabelRules label_rules(const FolderOptions& options, std::size_t planes, std::size_t count,
                                     const std::function<const ItemInfo&(std::size_t)>& info);

/// The labels of one item, slice by slice.
class LabelSlices {
  public:
    /// `values`: from ImageSource::read().
    LabelSlices(const ItemInfo& info, Array values, LabelRules rules);

    struct Look {
        bool annotated = false;  ///< has a class other than 0
        bool wide = false;       ///< a label does not fit a byte
    };
    /// Checks every label of a slice. Throws Error of kind `data` that names slice, row and column of a label
    /// that is not a whole number of 32 bits, or is neither a class nor ignored, or (masks) is neither 0
    /// nor 1.
    [[nodiscard]] Look look(std::size_t slice) const;
    /// The slice on the common grid, uint8 or int32 (rules.wide): [H,W], or [C,H,W] for masks, whose padding
    /// has class 0.
    void read(std::size_t slice, std::byte* out) const;

  private:
    void plane(std::size_t slice, std::size_t plane, std::int32_t* out) const;
    [[nodiscard]] bool ignored(std::int32_t label) const;

    ItemInfo info_;
    Array values_;
    LabelRules rules_;
};

}  // namespace kandinsky
