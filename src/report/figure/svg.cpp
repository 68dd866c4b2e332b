#include "report/figure/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kandinsky {

namespace {
constexpr std::string_view kInk = "#1b1f24";

/// Text with the special characters of XML escaped.
std::string xml_escaped(std::string_view text) {
    constexpr std::pair<char, std::string_view> kNames[] = {
        {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
    std::string out;
    for (const char letter : text) {
        const auto* const named = std::find_if(std::begin(kNames), std::end(kNames),
                                               [&](const auto& one) { return one.first == letter; });
        // XML 1.0 allows no control characters except tab and line ends, not even escaped ones.
        const char plain = static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        out += named != std::end(kNames) ? named->second : std::string_view(&plain, 1);
    }
    return out;
}

std::string label(double x, double y, std::string_view text, std::string_view anchor,
                  std::string_view more = "") {
    return fmt::format(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="{}"{}>{}</text>)", x, y, anchor, more,
                       xml_escaped(text)) +
           "\n";
}
}  // namespace

std::vector<std::pair<double, std::string>> even_ticks(double top) {
    double step = std::pow(10.0, std::floor(std::log10(top)));
    for (const double share : {0.1, 0.2, 0.5, 1.0})
        if (top / (step * share) <= 7) {
            step *= share;
            break;
        }
    std::vector<std::pair<double, std::string>> out;
    for (int i = 0; i * step <= top * (1 + 1e-9); ++i)
        out.emplace_back(i * step, fmt::format("{:.4g}", i * step));
    return out;
}

std::string SvgPlot::path(const Points& points) const {
    std::string out;
    for (const auto& [x, y] : points)
        out += fmt::format("{}{:.2f},{:.2f}", out.empty() ? "M" : "L", left(x), top(y));
    return out;
}

void SvgPlot::x_axis(std::string_view name, const std::vector<std::pair<double, std::string>>& ticks) {
    for (const auto& [at, text] : ticks) {
        body_ += fmt::format("<path d=\"M{:.2f},{:.2f}V{:.2f}\" stroke=\"{}\" stroke-opacity=\"0.1\"/>\n",
                             left(at), kTop, height_ - kBottom, kInk);
        body_ += label(left(at), height_ - kBottom + 16, text, "middle");
    }
    body_ += label((left(0) + left(x_top_)) / 2, height_ - 8, name, "middle");
}

void SvgPlot::y_axis(std::string_view name, const std::vector<std::pair<double, std::string>>& ticks) {
    for (const auto& [at, text] : ticks) {
        body_ += fmt::format("<path d=\"M{:.2f},{:.2f}H{:.2f}\" stroke=\"{}\" stroke-opacity=\"0.1\"/>\n",
                             kLeft, top(at), width_ - kRight, kInk);
        body_ += label(kLeft - 6, top(at) + 4, text, "end");
    }
    const double middle = (top(0) + top(y_top_)) / 2;
    body_ += label(14, middle, name, "middle", fmt::format(" transform=\"rotate(-90 14 {:.2f})\"", middle));
}

void SvgPlot::line(const Points& points, std::string_view colour, double width, bool dashed) {
    body_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", path(points),
                         colour, width, dashed ? " stroke-dasharray=\"3 4\"" : "");
}

void SvgPlot::area(const Points& outline, std::string_view colour, double opacity) {
    body_ +=
        fmt::format("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"{}\"/>\n", path(outline), colour, opacity);
}

void SvgPlot::dot(double x, double y, std::string_view colour, double radius) {
    body_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\"/>\n", left(x), top(y),
                         radius, colour);
}

void SvgPlot::note(double x, double y, std::string_view text, std::string_view anchor) {
    body_ += label(left(x), top(y) - 5, text, anchor);
}

void SvgPlot::legend(const std::vector<std::pair<std::string, std::string>>& names_and_colours) {
    double y = kTop + 12;
    for (const auto& [name, colour] : names_and_colours) {
        body_ +=
            fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"18\" height=\"4\" rx=\"2\" fill=\"{}\"/>\n",
                        kLeft + 12, y - 6, colour);
        body_ += label(kLeft + 36, y, name, "start");
        y += 18;
    }
}

std::string SvgPlot::text() const {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
               "{1}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"{2}\">\n<rect "
               "width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
               width_, height_, kInk) +
           body_ + "</svg>\n";
}

}  // namespace kandinsky
