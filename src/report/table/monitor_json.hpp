#pragma once

#include <kandinsky/monitor.hpp>
#include <nlohmann/json.hpp>

namespace kandinsky {

/// The JSON of `monitor` (schema 1): the state of the stream and its sentences.
[[nodiscard]] nlohmann::ordered_json monitor_json(const MonitorVerdict& verdict, const MonitorUpdate& update,
                                                  const std::vector<std::string>& names = {});

/// The state of the stream as metrics for the text file collector of Prometheus' node exporter.
[[nodiscard]] std::string prometheus_text(const MonitorVerdict& verdict);

}  // namespace kandinsky
