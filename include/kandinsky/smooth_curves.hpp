#pragma once

#include <kandinsky/curve.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/grid.hpp>
#include <utility>

namespace KANDINSKY_API kandinsky {

/// The curves of a soft method: at every pixel a distribution of scores, stored on a lattice of cells and
/// interpolated between their centres. Also the curves of regions whose levels follow the image: then each
/// region is one cell, and its pixels read that cell only. All arithmetic is in integers, so a class is in a
/// set if and only if the level of its score is at most the set's level. Const use is thread-safe.
class SmoothCurves {
  public:
    static constexpr std::uint32_t kOne = 65536;         ///< the level 1: levels are multiples of 1/65536
    static constexpr std::uint32_t kNever = 0xFFFFFFFF;  ///< a level for which there are too few data
    static constexpr std::uint32_t kLargestSide = 64;    ///< of a cell, in pixels

    SmoothCurves() = default;  ///< no curves: empty() is true

    [[nodiscard]] bool empty() const { return grid_.pixels() == 0; }         ///< there are no curves
    [[nodiscard]] bool without_data() const { return data_.edges.empty(); }  ///< no score was seen
    [[nodiscard]] const Ladder& ladder() const { return ladder_; }  ///< the levels 1 - alpha of the rungs
    /// Number of groups that set the levels; 0 where groups do not count.
    [[nodiscard]] std::uint64_t groups() const { return data_.groups; }
    [[nodiscard]] std::uint32_t side() const { return data_.side; }          ///< of a cell, in pixels
    [[nodiscard]] bool by_regions() const { return !data_.region.empty(); }  ///< pixels read one cell only
    [[nodiscard]] Grid cells() const { return cells_; }                      ///< cells down and across
    /// The cell that a pixel lies in.
    [[nodiscard]] std::size_t cell_of(std::size_t pixel) const {
        if (!data_.region.empty()) return data_.region[pixel];
        return pixel / grid_.width / data_.side * cells_.width + pixel % grid_.width / data_.side;
    }

    /// Writes the score thresholds at 1 - alpha to out[alpha][pixel of the range], as CurveSet::threshold().
    /// Allocates scratch for one pixel. Cost: about one operation per pixel and bin. Throws a usage error if
    /// `out` is too short.
    void thresholds(std::span<const double> alphas, PixelRange range, std::span<float> out) const;
    static constexpr std::uint32_t kNothing = kNever - 1;  ///< a level at which the class is in no set
    /// The rung for 1 - alpha; the number of rungs if the level lies above all rungs.
    [[nodiscard]] std::size_t rung_of(double alpha) const;
    /// The conformal p-value of a score: a class is in the set at alpha < 1 if and only if its p-value
    /// exceeds alpha. 1 without data.
    [[nodiscard]] double p_value(std::size_t pixel, float score) const;
    /// The pixel's distribution at a score, rounded up to a multiple of 1/65536: 0 to kOne. Undefined if
    /// without_data().
    [[nodiscard]] std::uint32_t level(std::size_t pixel, float score) const;

  private:
    friend struct CurveAccess;

    /// The numbers of the curves as files store them.
    struct Storage {
        std::uint32_t side = 1;                 ///< of a cell, in pixels
        std::int32_t origin = 0;                ///< key below the first bin: the level 0
        float largest = 1;                      ///< no score lies above
        std::vector<std::int32_t> edges;        ///< upper ends of the bins, ascending; none: no scores
        std::vector<std::uint16_t> cumulative;  ///< [cell][bin but the last], rounded down; the last is 1
        std::vector<std::uint32_t> levels;      ///< [rung of the ladder], ascending; kNever last
        std::uint64_t scores = 0;               ///< number that the distributions come from
        std::uint64_t groups = 0;               ///< number that set the levels; 0: groups do not count
        std::vector<std::uint32_t> region{};    ///< [pixel] the only cell that it reads; none: a lattice
    };

    SmoothCurves(Grid grid, Ladder ladder, Storage storage);
    /// thresholds() for levels of the distributions instead of alphas.
    void thresholds_at(std::span<const std::uint32_t> levels, PixelRange range, std::span<float> out) const;
    Grid grid_;
    Grid cells_;
    Ladder ladder_;
    Storage data_;
};

}  // namespace kandinsky
