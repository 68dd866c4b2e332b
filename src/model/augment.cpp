#include "model/augment.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/base/random.hpp"

namespace kandinsky {

namespace {
constexpr std::uint64_t kPurpose = 0x6175676D656E74;  // "augment"
}

Warp::Warp(const Augmentation& limits, Grid grid, std::uint64_t seed, std::uint64_t epoch,
           std::uint64_t sample)
    : grid_(grid) {
    Random random(seed, kPurpose ^ mix(epoch), sample);
    // All numbers are drawn, used or not, so that one option does not change the effect of another.
    const bool mirrored = random.uniform() < 0.5 && limits.mirror;
    const double angle = limits.turn * random.uniform(-1, 1) * std::numbers::pi / 180;
    const double scale = std::exp(random.uniform(-1, 1) * std::log1p(limits.zoom));
    dy_ = limits.shift * random.uniform(-1, 1) * grid.height;
    dx_ = limits.shift * random.uniform(-1, 1) * grid.width;
    offset_ = limits.brightness * random.uniform(-1, 1);
    gain_ = 1 + limits.contrast * random.uniform(-1, 1);
    a_ = std::cos(angle) / scale;
    b_ = -std::sin(angle) / scale;
    c_ = std::sin(angle) / scale;
    d_ = std::cos(angle) / scale;
    if (mirrored) {
        b_ = -b_;
        d_ = -d_;
    }
    identity_ = !mirrored && angle == 0 && scale == 1 && dy_ == 0 && dx_ == 0;
}

void Warp::source(double row, double column, double& y, double& x) const {
    const double middle_y = (grid_.height - 1) / 2.0, middle_x = (grid_.width - 1) / 2.0;
    const double v = row - middle_y, u = column - middle_x;
    y = middle_y + a_ * v + b_ * u + dy_;
    x = middle_x + c_ * v + d_ * u + dx_;
}

void Warp::pixels(std::size_t planes, const float* from, float* to) const {
    const std::size_t plane = grid_.pixels(), width = grid_.width;
    const auto gain = static_cast<float>(gain_), offset = static_cast<float>(offset_);
    if (identity_) {
        for (std::size_t i = 0; i < planes * plane; ++i) to[i] = from[i] * gain + offset;
        return;
    }
    for (std::size_t row = 0; row < grid_.height; ++row)
        for (std::size_t column = 0; column < width; ++column) {
            double y = 0, x = 0;
            source(static_cast<double>(row), static_cast<double>(column), y, x);
            y = std::clamp(y, 0.0, grid_.height - 1.0);
            x = std::clamp(x, 0.0, grid_.width - 1.0);
            const auto top = static_cast<std::size_t>(y), left = static_cast<std::size_t>(x);
            const std::size_t below = std::min<std::size_t>(top + 1, grid_.height - 1);
            const std::size_t right = std::min<std::size_t>(left + 1, width - 1);
            const auto fy = static_cast<float>(y - static_cast<double>(top)),
                       fx = static_cast<float>(x - static_cast<double>(left));
            for (std::size_t k = 0; k < planes; ++k) {
                const float* const p = from + k * plane;
                const float upper = p[top * width + left] * (1 - fx) + p[top * width + right] * fx;
                const float lower = p[below * width + left] * (1 - fx) + p[below * width + right] * fx;
                to[k * plane + row * width + column] = (upper * (1 - fy) + lower * fy) * gain + offset;
            }
        }
}

void Warp::mask(std::size_t planes, const std::uint8_t* from, std::uint8_t* to, std::uint8_t outside) const {
    const std::size_t plane = grid_.pixels(), width = grid_.width;
    if (identity_) {
        std::memcpy(to, from, planes * plane);
        return;
    }
    for (std::size_t row = 0; row < grid_.height; ++row)
        for (std::size_t column = 0; column < width; ++column) {
            double y = 0, x = 0;
            source(static_cast<double>(row), static_cast<double>(column), y, x);
            const double nearest_y = std::floor(y + 0.5), nearest_x = std::floor(x + 0.5);
            const bool inside =
                nearest_y >= 0 && nearest_x >= 0 && nearest_y < grid_.height && nearest_x < grid_.width;
            const std::size_t at =
                inside ? static_cast<std::size_t>(nearest_y) * width + static_cast<std::size_t>(nearest_x)
                       : 0;
            for (std::size_t k = 0; k < planes; ++k)
                to[k * plane + row * width + column] = inside ? from[k * plane + at] : outside;
        }
}

}  // namespace kandinsky
