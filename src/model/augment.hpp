#pragma once

#include <kandinsky/grid.hpp>

namespace kandinsky {

/// Light augmentation: what may happen to an image before the network learns from it.
struct Augmentation {
    bool mirror = true;       ///< left-right, half of the time
    double shift = 0.05;      ///< at most, in shares of the side
    double zoom = 0.1;        ///< at most, in both directions
    double turn = 10;         ///< degrees at most
    double brightness = 0.1;  ///< added, at most
    double contrast = 0.1;    ///< factor away from 1, at most

    [[nodiscard]] static Augmentation none() {
        return {.mirror = false, .shift = 0, .zoom = 0, .turn = 0, .brightness = 0, .contrast = 0};
    }
};

/// One random change, drawn from (seed, epoch, sample): the same however batches are made.
class Warp {
  public:
    Warp(const Augmentation& limits, Grid grid, std::uint64_t seed, std::uint64_t epoch,
         std::uint64_t sample);

    /// Moves planes [planes][H][W] bilinearly and changes their brightness; outside is the nearest edge.
    void pixels(std::size_t planes, const float* from, float* to) const;
    /// Moves planes of 0 and 1 to the nearest pixel; outside is `outside`.
    void mask(std::size_t planes, const std::uint8_t* from, std::uint8_t* to, std::uint8_t outside) const;

  private:
    /// Where a pixel of the result comes from.
    void source(double row, double column, double& y, double& x) const;

    Grid grid_;
    bool identity_ = false;
    double a_ = 1, b_ = 0, c_ = 0, d_ = 1, dy_ = 0, dx_ = 0;
    double gain_ = 1, offset_ = 0;
};

}  // namespace kandinsky
