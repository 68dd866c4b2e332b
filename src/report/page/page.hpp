#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kandinsky {

/// Whether this program was built with the page's template.
[[nodiscard]] bool has_report_template();
/// Throws a usage error with the steps to enable reports, unless has_report_template().
void require_report_template();
/// The complete page: the template with the data inserted. Safe for any text in the data. Throws as
/// require_report_template().
[[nodiscard]] std::string report_page(const nlohmann::ordered_json& data);
/// JSON for the inside of a script element: no text in it can end the element.
[[nodiscard]] std::string script_safe(const nlohmann::ordered_json& data);
/// Replaces the placeholder in `page` by the data. Throws an internal fault unless there is exactly one.
[[nodiscard]] std::string fill_template(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace kandinsky
