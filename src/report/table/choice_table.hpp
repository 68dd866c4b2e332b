#pragma once

#include <kandinsky/calibrator.hpp>
#include <string>

namespace kandinsky {

/// What cross-validation found, for the terminal: losses by class and method, the chosen one marked, and one
/// sentence about why. The calibrator must have choices.
[[nodiscard]] std::string choice_sentence(const Calibrator& calibrator);  ///< that sentence alone
[[nodiscard]] std::string choice_table(const Calibrator& calibrator);

}  // namespace kandinsky
