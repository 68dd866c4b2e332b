#pragma once

#include "report/data/report_input.hpp"

namespace kandinsky {

/// Numbers of the test images that make good examples: an easy, a usual and a hard one by the share of
/// pixels whose set has not exactly one class, among the quarter (or more) that shows the most classes.
[[nodiscard]] std::vector<std::size_t> example_images(const Tally& tally, std::size_t wanted);

/// How many slider alphas (0.01 .. 0.99) have the class in the set, [class][pixel]: the class is in the set
/// at alpha = a / 100 if and only if the number is at least a.
[[nodiscard]] std::vector<std::uint8_t> set_codes(const Calibrator& calibrator, const Dataset& test,
                                                  std::size_t image);

/// The examples as the page carries them: truth, probabilities, sets; as many as fit, at least one image.
[[nodiscard]] nlohmann::ordered_json examples_json(const ReportInput& input, const Tally& tally,
                                                   std::size_t limit);

}  // namespace kandinsky
