#pragma once

#include <kandinsky/monitor.hpp>
#include <nlohmann/json.hpp>

namespace kandinsky {

/// The data of the stream's page, for report_page(): the verdict with all features, and its history.
[[nodiscard]] nlohmann::ordered_json monitor_page(const Monitor& monitor, const MonitorUpdate& update,
                                                  Grid grid, const std::string& title,
                                                  const std::vector<std::string>& names);

}  // namespace kandinsky
