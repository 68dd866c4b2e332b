#include "report/page/monitor_page.hpp"

#include "report/page/report_data.hpp"
#include "report/table/monitor_json.hpp"
#include "report/table/result_json.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
ordered_json course_json(const MonitorCourse& course) {
    ordered_json rows = ordered_json::array();
    for (const std::vector<float>& row : course.rows) {
        ordered_json one = ordered_json::array();
        for (const float value : row) one.push_back(number(static_cast<double>(value)));
        rows.push_back(std::move(one));
    }
    return {{"stride", course.stride}, {"units", course.units}, {"columns", course.columns}, {"rows", rows}};
}
}  // namespace

ordered_json monitor_page(const Monitor& monitor, const MonitorUpdate& update, Grid grid,
                          const std::string& title, const std::vector<std::string>& names) {
    return {{"schema", 1},
            {"kind", "monitor"},
            {"title", title},
            {"version", KANDINSKY_VERSION},
            {"grid", {grid.height, grid.width}},
            {"classes", names},
            {"verdict", monitor_json(monitor.verdict(), update, names)},
            {"outputs", course_json(monitor.outputs_course())},
            {"labels", course_json(monitor.labels_course())}};
}

}  // namespace kandinsky
