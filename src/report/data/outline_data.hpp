#pragma once

#include "report/data/report_input.hpp"

namespace kandinsky {

/// Throws Error of kind `usage` or `data` if a report cannot show the rule's outlines on these images, for
/// example because the rule was made from masks, is in millimetres or has the score field.
/// `name`: of the rule's file, for the message.
void check_outlines(const OutlineRule& rule, const std::string& name, const Dataset& test);

/// The outlines of `images` in the page's form, the guarantee, and how often it was kept on all test images;
/// null without a rule.
[[nodiscard]] nlohmann::ordered_json outlines_json(const ReportInput& input,
                                                   const std::vector<std::size_t>& images);

}  // namespace kandinsky
