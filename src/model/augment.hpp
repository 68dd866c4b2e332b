#pragma once

#include <kandinsky/grid.hpp>

namespace kandinsky {

/// Light augmentation: random changes of an image before the network learns from it.
struct Augmentation {
    bool mirror = true;       ///< left-right, with probability 1/2
    double shift = 0.05;      ///< largest shift, as a share of the side
    double zoom = 0.1;        ///< largest relative change of the size
    double turn = 10;         ///< largest angle in degrees
    double brightness = 0.1;  ///< largest amount added or subtracted
    double contrast = 0.1;    ///< largest distance of the factor from 1

    [[nodiscard]] static Augmentation none() {
        return {.mirror = false, .shift = 0, .zoom = 0, .turn = 0, .brightness = 0, .contrast = 0};
    }
};

/// One random change, drawn from (seed, epoch, sample), so it does not depend on the batches.
class Warp {
  public:
    Warp(const Augmentation& limits, Grid grid, std::uint64_t seed, std::uint64_t epoch,
         std::uint64_t sample);

    /// Moves planes [planes][H][W] bilinearly and changes brightness and contrast. A pixel from outside the
    /// image takes the value of the nearest edge pixel.
    void pixels(std::size_t planes, const float* from, float* to) const;
    /// Moves planes of 0 and 1 by nearest pixels. A pixel from outside the image becomes `outside`.
    void mask(std::size_t planes, const std::uint8_t* from, std::uint8_t* to, std::uint8_t outside) const;

  private:
    /// The source position of a pixel of the result.
    void source(double row, double column, double& y, double& x) const;

    Grid grid_;
    bool identity_ = false;
    double a_ = 1, b_ = 0, c_ = 0, d_ = 1, dy_ = 0, dx_ = 0;
    double gain_ = 1, offset_ = 0;
};

}  // namespace kandinsky
