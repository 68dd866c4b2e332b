#include "report/page/page.hpp"

#include "core/base/fail.hpp"

namespace kandinsky {

/// The page that cmake/web.cmake built from web/; empty in a build without reports.
extern const unsigned char kReportTemplate[];
extern const std::size_t kReportTemplateBytes;

namespace {
constexpr std::string_view kToken = "@@KANDINSKY_DATA@@";
}

bool has_report_template() {
    return kReportTemplateBytes > 0;
}

void require_report_template() {
    if (!has_report_template())
        fail(ErrorKind::usage,
             "this program was built without reports; install nodejs (18 or newer) and npm, then build again "
             "with -DKANDINSKY_WEB=ON");
}

std::string script_safe(const nlohmann::ordered_json& data) {
    // '<' occurs only inside strings, where the escape means the same. Bytes that are not UTF-8 are replaced.
    const std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::string out;
    out.reserve(text.size());
    for (const char letter : text)
        if (letter == '<')
            out += "\\u003c";
        else
            out += letter;
    return out;
}

std::string fill_template(std::string_view page, const nlohmann::ordered_json& data) {
    const std::size_t place = page.find(kToken);
    if (place == std::string_view::npos || page.find(kToken, place + 1) != std::string_view::npos)
        fail(ErrorKind::internal, "the report's template must have exactly one place for the data");
    std::string out(page.substr(0, place));
    out += script_safe(data);
    out += page.substr(place + kToken.size());
    return out;
}

std::string report_page(const nlohmann::ordered_json& data) {
    require_report_template();
    return fill_template({reinterpret_cast<const char*>(kReportTemplate), kReportTemplateBytes}, data);
}

}  // namespace kandinsky
