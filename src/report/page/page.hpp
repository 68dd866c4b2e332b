#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kandinsky {

/// Whether this program was built with the page's template.
[[nodiscard]] bool has_report_template();
/// Throws a usage error that says how to enable reports, unless has_report_template().
void require_report_template();
/// The whole page: the template with the data in it, safe for any text in the data.
[[nodiscard]] std::string report_page(const nlohmann::ordered_json& data);
/// JSON that may stand inside a script element: nothing in it can end the element.
[[nodiscard]] std::string script_safe(const nlohmann::ordered_json& data);
/// `page` with the data in place of the token that marks its place. Throws an internal fault without it.
[[nodiscard]] std::string fill_template(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace kandinsky
