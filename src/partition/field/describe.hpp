#pragma once

#include <string>

#include "partition/field/learn.hpp"

namespace kandinsky::partition::field {

/// What was learnt, as JSON for `inspect` and the report; `shift` where levels adapt to the image.
[[nodiscard]] std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells,
                                   std::size_t bins, const LearntShift* shift = nullptr);

}  // namespace kandinsky::partition::field
