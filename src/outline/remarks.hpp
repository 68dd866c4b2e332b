#pragma once

#include <kandinsky/measure.hpp>
#include <kandinsky/outline.hpp>
#include <string>
#include <vector>

namespace kandinsky::outline {

/// Warnings about a new rule, one line each: too few groups, uninformative masks.
[[nodiscard]] std::vector<std::string> remarks(const OutlineRule& rule);
[[nodiscard]] std::vector<std::string> remarks(const MeasureRule& rule);

}  // namespace kandinsky::outline
