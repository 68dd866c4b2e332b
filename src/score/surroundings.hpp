#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/grid.hpp>

#include "core/data/image_store.hpp"

namespace kandinsky {

/// The term that the score `near` adds to 1 - p: the distance of a pixel from where the model sees the class.
/// Distances are stored for cells of side x side pixels, as multiples of 1/65535. docs/scores.md has the
/// formula. All arithmetic on codes uses integers.
class Surroundings {
  public:
    // These constants are part of the definition of `near`: do not change them.
    static constexpr float kWeight = 0.5f;  ///< of the largest distance in a score
    /// The probability at which a cell counts a little more than half.
    static constexpr float kHalfway = 0.1f;
    static constexpr std::uint16_t kTop = 65535;

    explicit Surroundings(Grid image);

    [[nodiscard]] Grid cells() const { return cells_; }
    [[nodiscard]] std::uint32_t side() const { return side_; }       ///< pixels of a cell, in both directions
    [[nodiscard]] unsigned doublings() const { return doublings_; }  ///< the widest window has radius 2^that
    /// The pixels of the rows [first, last) of cells.
    [[nodiscard]] PixelRange pixels_of(std::size_t first, std::size_t last) const;
    /// Writes codes of the rows [first, last) of cells: how likely the class is at a cell's likeliest pixel.
    /// `probs`: of the class in these rows; NaN counts as 0. `codes`: of all cells; other rows stay. No
    /// allocation after a thread's first call.
    void look(std::size_t first, std::size_t last, const float* probs, std::uint16_t* codes) const;
    /// Replaces one class's codes of all cells by distances. No allocation after a thread's first call.
    void spread(std::uint16_t* cells) const;
    /// 1 - p + weighted distance for one class's pixels in a range; `distances` are those of all cells.
    void score(PixelRange range, const float* probs, const std::uint16_t* distances, float* scores) const;

  private:
    Grid image_, cells_;
    std::uint32_t side_ = 1;
    unsigned doublings_ = 0;
};

/// The distances of all classes in one image, [class][cell]; computed at the first call and kept by the data
/// set.
[[nodiscard]] ImageStore::Numbers distances_of(const Dataset& data, std::size_t image);

}  // namespace kandinsky
