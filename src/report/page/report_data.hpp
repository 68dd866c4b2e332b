#pragma once

#include "report/data/report_input.hpp"

namespace kandinsky {

/// The data of the page (web/src/data.ts declares the fields). Deterministic: no time, no host.
[[nodiscard]] nlohmann::ordered_json report_data(const ReportInput& input, const Tally& tally,
                                                 const ReportLimits& limits = {});

/// A name for every class: the given names, or "class N". Throws a usage error if their number is wrong.
[[nodiscard]] std::vector<std::string> class_labels(const std::vector<std::string>& given,
                                                    std::size_t classes);

}  // namespace kandinsky
