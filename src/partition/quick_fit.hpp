#pragma once

#include <kandinsky/partition.hpp>

namespace kandinsky::partition {

/// A setting that no option has: this fit is one of many inside cross-validation, where regions are judged
/// and thrown away. A method may then search less long, as far as the regions stay about the same.
inline constexpr const char* kQuickFit = "quick-fit";

[[nodiscard]] inline bool is_quick_fit(const PartitionInput& input) {
    return input.settings != nullptr && input.settings->text.count(kQuickFit) > 0;
}

}  // namespace kandinsky::partition
