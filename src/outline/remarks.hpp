#pragma once

#include <kandinsky/measure.hpp>
#include <kandinsky/outline.hpp>
#include <string>
#include <vector>

namespace kandinsky::outline {

/// What users should know of a rule that was just calibrated: too few groups, masks that say nothing. A line
/// each.
[[nodiscard]] std::vector<std::string> remarks(const OutlineRule& rule);
[[nodiscard]] std::vector<std::string> remarks(const MeasureRule& rule);

}  // namespace kandinsky::outline
