#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kandinsky {

using Points = std::vector<std::pair<double, double>>;

/// A small plot with axes, as SVG text. x is in [0, x_top] and y in [0, y_top].
class SvgPlot {
  public:
    SvgPlot(double width, double height, double x_top, double y_top)
        : width_(width), height_(height), x_top_(x_top), y_top_(y_top) {}

    void x_axis(std::string_view name, const std::vector<std::pair<double, std::string>>& ticks);
    void y_axis(std::string_view name, const std::vector<std::pair<double, std::string>>& ticks);
    void line(const Points& points, std::string_view colour, double width = 1.8, bool dashed = false);
    void area(const Points& outline, std::string_view colour, double opacity);
    void dot(double x, double y, std::string_view colour, double radius = 3);
    void note(double x, double y, std::string_view text, std::string_view anchor = "start");
    void legend(const std::vector<std::pair<std::string, std::string>>& names_and_colours);
    [[nodiscard]] std::string text() const;

  private:
    static constexpr double kLeft = 56, kRight = 16, kTop = 16, kBottom = 46;
    [[nodiscard]] double left(double x) const { return kLeft + x / x_top_ * (width_ - kLeft - kRight); }
    [[nodiscard]] double top(double y) const {
        return height_ - kBottom - y / y_top_ * (height_ - kTop - kBottom);
    }
    [[nodiscard]] std::string path(const Points& points) const;

    double width_, height_, x_top_, y_top_;
    std::string body_;
};

/// The multiples of a round step from 0 to `top` > 0 with their labels; for `top` = 1: 0, 0.2, ..., 1.
[[nodiscard]] std::vector<std::pair<double, std::string>> even_ticks(double top);

}  // namespace kandinsky
