#pragma once

#include <algorithm>
#include <kandinsky/smooth_curves.hpp>
#include "partition/method.hpp"

#include "curve/lattice.hpp"

namespace kandinsky::partition {

/// The cells for which distributions are stored: a lattice or regions. A lattice has blocks of side x side
/// pixels, the smallest that give at most kMost cells, but `side` is at most SmoothCurves::kLargestSide.
/// (Distributions are smooth, so smaller cells would cost more and add nothing.) A region is one cell, and
/// its pixels read only that cell.
class Cells {
  public:
    static constexpr std::size_t kMost = 6000;

    explicit Cells(Grid image, std::size_t most = kMost) : image_(image) {
        while (grid().pixels() > most && side_ < SmoothCurves::kLargestSide) ++side_;
    }
    Cells(Grid image, const Partition& regions)
        : image_(image),
          region_(regions.region),
          regions_(*std::max_element(region_.begin(), region_.end()) + 1) {}
    [[nodiscard]] std::uint32_t side() const { return side_; }
    [[nodiscard]] Grid image() const { return image_; }
    /// A grid with one pixel for each cell; regions form one row.
    [[nodiscard]] Grid grid() const {
        return region_.empty() ? lattice_of(image_, side_) : Grid{1, regions_};
    }
    /// [pixel] its region; empty for a lattice. The number of cells is the highest number here plus 1.
    [[nodiscard]] const std::vector<std::uint32_t>& region() const { return region_; }
    [[nodiscard]] std::size_t of(std::size_t pixel) const {
        if (!region_.empty()) return region_[pixel];
        return pixel / image_.width / side_ * grid().width + pixel % image_.width / side_;
    }
    /// How many pixels of the image a cell of a lattice has: fewer than side() squared where the border cuts
    /// it off.
    [[nodiscard]] std::uint32_t area(std::size_t cell) const {
        const auto length = [&](std::size_t place, std::uint32_t size) {
            return std::min(side_, size - static_cast<std::uint32_t>(place) * side_);
        };
        return length(cell / grid().width, image_.height) * length(cell % grid().width, image_.width);
    }
    /// Makes each pixel's cell its region.
    void divide(Partition& out) const {
        out.regions = static_cast<std::uint32_t>(grid().pixels());
        out.region.resize(image_.pixels());
        for (std::size_t p = 0; p < out.region.size(); ++p) out.region[p] = static_cast<std::uint32_t>(of(p));
    }
    /// Where the rows or columns of pixels lie between the rows or columns of cells. If cells are regions,
    /// each region is a column.
    [[nodiscard]] std::vector<BetweenCells> rows() const {
        if (!region_.empty()) return std::vector<BetweenCells>(image_.height, alone_in(0));
        return between(image_.height, grid().height);
    }
    [[nodiscard]] std::vector<BetweenCells> columns() const {
        if (region_.empty()) return between(image_.width, grid().width);
        std::vector<BetweenCells> out;
        for (std::uint32_t cell = 0; cell < regions_; ++cell) out.push_back(alone_in(cell));
        return out;
    }
    /// Where the left-right mirror image of each column of cells of a lattice lies. The lattice begins at the
    /// left border, so the image lies between two columns where the right border cuts off the last one.
    [[nodiscard]] std::vector<BetweenCells> mirrored_columns() const {
        std::vector<BetweenCells> out;
        for (std::uint32_t column = 0; column < grid().width; ++column)
            out.push_back(between_centres(2 * (image_.width - std::min(image_.width, (column + 1) * side_)),
                                          side_, grid().width));
        return out;
    }
    /// The place of a pixel in columns().
    [[nodiscard]] std::size_t column_of(std::size_t pixel) const {
        return region_.empty() ? pixel % image_.width : region_[pixel];
    }
    /// The row (column) of the middle pixel of a row (column) of cells; the last row (column) of the image if
    /// the middle lies beyond it.
    [[nodiscard]] std::uint32_t middle_row(std::size_t row) const { return middle(row, image_.height); }
    [[nodiscard]] std::uint32_t middle_column(std::size_t column) const {
        return middle(column, image_.width);
    }
    /// Whether a pixel is the middle pixel of its cell.
    [[nodiscard]] bool in_middle(std::size_t pixel) const {
        const std::size_t row = pixel / image_.width, column = pixel % image_.width;
        return row == middle_row(row / side_) && column == middle_column(column / side_);
    }
    /// The variance, in squared cells, that is added to a kernel by counting in cells and by interpolation
    /// between their centres.
    [[nodiscard]] double added_variance() const {
        return side_ == 1 ? 0.0 : (1 - 1.0 / (side_ * side_)) / 12 + 1.0 / 6;
    }

  private:
    [[nodiscard]] std::vector<BetweenCells> between(std::uint32_t pixels, std::uint32_t cells) const {
        std::vector<BetweenCells> out;
        for (std::uint32_t i = 0; i < pixels; ++i) out.push_back(between_cells(i, side_, cells));
        return out;
    }
    [[nodiscard]] std::uint32_t middle(std::size_t cell, std::uint32_t size) const {
        return std::min(static_cast<std::uint32_t>(cell) * side_ + side_ / 2, size - 1);
    }

    Grid image_;
    std::uint32_t side_ = 1;
    std::vector<std::uint32_t> region_;
    std::uint32_t regions_ = 0;
};

}  // namespace kandinsky::partition
