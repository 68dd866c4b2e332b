#include "report/figure/weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/data/blob.hpp"
#include "report/figure/svg.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr double kGap = 0.7;  // between the kinds, in widths of a column
constexpr const char *kPlainColour = "#0072b2", *kMirrorColour = "#d55e00";

bool is_candidate(const ordered_json& one) {
    return one.is_object() && one.contains("bandwidth") && one.contains("mirror") && one.contains("rings") &&
           one.contains("weight") && one["mirror"].is_boolean() && one["weight"].is_number();
}

std::string name_of(const WeightColumn& column) {
    if (column.kind == WeightColumn::Kind::image) return "image";
    const std::string pixels = column.bandwidth < 10 ? fmt::format("{:.2g}", column.bandwidth)
                                                     : fmt::format("{:.0f}", column.bandwidth);
    return column.kind == WeightColumn::Kind::space ? pixels
                                                    : fmt::format("{} ({:.2g})", pixels, column.rings);
}
}  // namespace

std::vector<WeightColumn> weight_columns(const std::string& geometry) {
    const ordered_json shape = ordered_json::parse(geometry);
    std::vector<WeightColumn> columns;
    if (!shape.is_object() || !shape.contains("candidates") || !shape["candidates"].is_array()) return {};
    for (const ordered_json& one : shape["candidates"]) {
        if (!is_candidate(one)) return {};
        WeightColumn column;
        if (one["bandwidth"].is_number()) {
            column.kind = one["rings"].is_number() ? WeightColumn::Kind::rings : WeightColumn::Kind::space;
            column.bandwidth = one["bandwidth"].get<double>();
            if (one["rings"].is_number()) column.rings = one["rings"].get<double>();
        }
        const auto same = [&](const WeightColumn& other) {
            return other.kind == column.kind && other.bandwidth == column.bandwidth &&
                   other.rings == column.rings;
        };
        auto place = std::find_if(columns.begin(), columns.end(), same);
        if (place == columns.end()) place = columns.insert(columns.end(), column);
        (one["mirror"].get<bool>() ? place->mirrored : place->plain) += one["weight"].get<double>();
    }
    std::stable_sort(columns.begin(), columns.end(),
                     [](const WeightColumn& a, const WeightColumn& b) { return a.kind < b.kind; });
    return columns;
}

std::string weights_svg(const std::vector<WeightColumn>& columns) {
    double most = 0, right = 0;
    for (const WeightColumn& one : columns) most = std::max({most, one.plain, one.mirrored});
    const double top = std::min(1.0, round_up(most));
    std::vector<std::pair<double, std::string>> ticks;
    std::vector<double> middles;
    std::vector<std::pair<double, std::string>> titles;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const WeightColumn& one = columns[i];
        const bool first = i == 0 || one.kind != columns[i - 1].kind;
        if (first && i > 0) right += kGap;
        if (first && one.kind != WeightColumn::Kind::image)
            titles.emplace_back(right, one.kind == WeightColumn::Kind::space ? "space" : "rings");
        middles.push_back(right + 0.5);
        ticks.emplace_back(middles.back(), name_of(one));
        right += 1;
    }
    // The space above the bars is for the kinds' names and the legend.
    SvgPlot plot(90 + 62 * right, 320, right, top * 1.3);
    plot.x_axis("bandwidth in pixels (for rings: and tau)", ticks);
    plot.y_axis("weight", even_ticks(top));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto bar = [&](double left, double height, const char* colour) {
            if (height > 0)
                plot.area({{left, 0}, {left + 0.4, 0}, {left + 0.4, height}, {left, height}}, colour, 1);
        };
        bar(middles[i] - 0.4, columns[i].plain, kPlainColour);
        bar(middles[i], columns[i].mirrored, kMirrorColour);
    }
    for (const auto& [at, title] : titles) plot.note(at, top * 1.03, title);
    plot.legend({{"plain", kPlainColour}, {"with its mirror image", kMirrorColour}});
    return plot.text();
}

}  // namespace kandinsky
