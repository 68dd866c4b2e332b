#pragma once

#include <algorithm>
#include <kandinsky/grid.hpp>

namespace kandinsky::scene {

/// A position in the picture: the origin is in the middle, y points down, and the shorter side has length 1.
/// Scenes are defined in these units, so a scene looks the same on every grid.
struct Point {
    float x = 0, y = 0;
};

/// The pixels of a grid as points.
class Frame {
  public:
    explicit Frame(Grid grid)
        : grid_(grid),
          pixel_(1.0F / static_cast<float>(std::min(grid.height, grid.width))),
          half_width_(0.5F * static_cast<float>(grid.width) * pixel_),
          half_height_(0.5F * static_cast<float>(grid.height) * pixel_) {}

    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] float pixel() const { return pixel_; }  ///< side of a pixel
    [[nodiscard]] float half_width() const { return half_width_; }
    [[nodiscard]] float half_height() const { return half_height_; }
    [[nodiscard]] float x(std::size_t column) const {
        return (static_cast<float>(column) + 0.5F) * pixel_ - half_width_;
    }
    [[nodiscard]] float y(std::size_t row) const {
        return (static_cast<float>(row) + 0.5F) * pixel_ - half_height_;
    }

  private:
    Grid grid_;
    float pixel_, half_width_, half_height_;
};

/// Squared distance from the middle, 0 there and 1 in the corners. Determines the effect of the border.
[[nodiscard]] inline float eccentricity(const Frame& frame, Point at) {
    const float u = at.x / frame.half_width(), v = at.y / frame.half_height();
    return 0.5F * (u * u + v * v);
}

}  // namespace kandinsky::scene
