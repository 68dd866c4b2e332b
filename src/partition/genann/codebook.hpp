#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/genann/fitness.hpp"
#include "score/scoring.hpp"

namespace kandinsky::partition::genann {

/// An approximation of the Euclidean fitness for the search. The points are divided into cells of similar
/// vectors, and a pair counts with the mean distance between its two cells. A score thus needs one histogram
/// per region and a table of cells by cells: O(n + regions * cells^2) instead of O(n^2).
///
/// The cells come from bisections: the cell with the largest sum of squares is divided at the mean of the
/// value that varies most in it, until there are `cells` cells or all are single vectors. The mean distance
/// is exact within a cell and between near cells. Between far cells it is the second-order expansion sqrt(d^2
/// + t - s), where d is the distance of the cells' means, t the variance of the difference of two points, and
/// s its part along the direction between the means. Deterministic.
class Codebook final : public Fitness, public Sweeper {
  public:
    Codebook(const Cloud& cloud, std::size_t cells);

    using Fitness::score;
    [[nodiscard]] double score(const Spans& spans, double limit) const override;
    /// O(cells^2 + moving * cells), one thread.
    [[nodiscard]] std::pair<std::size_t, double> best_move(std::span<const Moving> moving,
                                                           std::span<const std::uint32_t> from,
                                                           std::span<const std::uint32_t> to) const override;
    [[nodiscard]] std::size_t cells() const { return cells_; }

  private:
    struct Cell;
    void bisect(std::size_t limit);
    void fill_table();
    /// [region][cell]: summed weights.
    [[nodiscard]] std::vector<float> histograms(const Spans& spans) const;
    /// A lower bound of the sum over ordered pairs. The mean distance between two cells is at least that of
    /// their means. A sum of lengths is at least the length of the vector of summed absolute coordinates. For
    /// each coordinate, one pass over the cells in ascending order gives this sum: O(regions * values *
    /// cells).
    [[nodiscard]] double least_sum(const std::vector<float>& histograms, std::size_t regions) const;

    const Cloud& cloud_;
    std::vector<Cell> tree_;
    std::vector<std::uint32_t> order_;         ///< points grouped by cell
    static constexpr std::size_t kPiece = 32;  ///< codes that are copied at a time
    std::vector<std::uint16_t> code_;          ///< [point], and one more piece
    std::vector<std::uint32_t> cell_sizes_;    ///< [size_]: points in each cell
    std::vector<float> table_;                 ///< [size_][size_]: upper triangle, doubled off the diagonal
    std::vector<float> distance_;              ///< [size_][size_]: mean distances, the whole square
    struct Step {
        std::size_t cell = 0;
        float gap = 0;  ///< twice the distance to the next cell
    };
    std::vector<Step> steps_;  ///< [value][rank]: the cells in ascending order of the value
    std::size_t cells_ = 0;
    std::size_t size_ = 0;  ///< cells_ rounded up to whole vectors

  public:
    ~Codebook() override;
};

}  // namespace kandinsky::partition::genann
