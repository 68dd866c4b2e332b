#pragma once

#include <cstdint>
#include <kandinsky/grid.hpp>

namespace kandinsky::partition {

/// The grid that distributions are kept on: the image's own up to some 150,000 pixels, beyond that blocks of
/// side x side pixels, the smallest that bring it down to so many. Memory is about 3 KiB a cell.
class Cells {
  public:
    static constexpr std::size_t kMost = 2 * 320 * 240;

    explicit Cells(Grid image, std::size_t most = kMost) : image_(image) {
        while (grid().pixels() > most) ++side_;
    }
    [[nodiscard]] std::uint32_t side() const { return side_; }
    [[nodiscard]] Grid image() const { return image_; }
    [[nodiscard]] Grid grid() const {
        return {(image_.height + side_ - 1) / side_, (image_.width + side_ - 1) / side_};
    }
    [[nodiscard]] std::size_t of(std::size_t pixel) const {
        return pixel / image_.width / side_ * grid().width + pixel % image_.width / side_;
    }

  private:
    Grid image_;
    std::uint32_t side_ = 1;
};

}  // namespace kandinsky::partition
