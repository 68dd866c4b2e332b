#include "report/table/monitor_json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kandinsky {
namespace {

TEST(MonitorJson, BoundsOfACoverageThatChangedAreNullAndNoMetric) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    MonitorVerdict verdict;
    verdict.features.emplace_back();
    verdict.coverage = {{.cls = 0, .units = 5, .coverage = 0.9, .low = 0.8, .high = 0.95},
                        {.cls = 1, .units = 5, .coverage = 0.6, .low = kNone, .high = kNone}};
    const nlohmann::ordered_json json = monitor_json(verdict, {});
    EXPECT_EQ(json["coverage"][0]["low"], 0.8);
    EXPECT_TRUE(json["coverage"][1]["low"].is_null());
    EXPECT_TRUE(json["coverage"][1]["high"].is_null());
    const std::string metrics = prometheus_text(verdict);
    EXPECT_NE(metrics.find("coverage{class=\"0\",bound=\"low\"} 0.8\n"), std::string::npos) << metrics;
    EXPECT_NE(metrics.find("coverage{class=\"1\",bound=\"mean\"} 0.6\n"), std::string::npos) << metrics;
    EXPECT_EQ(metrics.find("class=\"1\",bound=\"low\""), std::string::npos) << metrics;
    EXPECT_EQ(metrics.find("nan"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace kandinsky
