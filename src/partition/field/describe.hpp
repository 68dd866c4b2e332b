#pragma once

#include <string>

#include "partition/field/learn.hpp"

namespace kandinsky::partition::field {

/// The learnt blend as JSON for `inspect` and the report; `shift`: if levels adapt to the image.
[[nodiscard]] std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells,
                                   std::size_t bins, const LearntShift* shift = nullptr);

}  // namespace kandinsky::partition::field
