#pragma once

#include "report/data/report_input.hpp"

namespace kandinsky {

/// Numbers of at most `wanted` test images, of which there is at least one, from easy to hard. An image is
/// hard if many pixels have a set that does not have exactly one class. Only the quarter (or more) of the
/// images with the most classes is considered.
[[nodiscard]] std::vector<std::size_t> example_images(const Tally& tally, std::size_t wanted);

/// [class][pixel] the number of slider alphas (0.01 .. 0.99) at which the class is in the set. It is in the
/// set at alpha = a / 100 if and only if this number is at least a.
[[nodiscard]] std::vector<std::uint8_t> set_codes(const Calibrator& calibrator, const Dataset& test,
                                                  std::size_t image);

/// At most three examples in the page's form: photo, truth, most probable classes, probabilities, sets. The
/// first example is always kept; another one only if the sum of their sizes is at most `limit` bytes of
/// base64. The most probable classes do not count.
[[nodiscard]] nlohmann::ordered_json examples_json(const ReportInput& input, const Tally& tally,
                                                   std::size_t limit);

}  // namespace kandinsky
