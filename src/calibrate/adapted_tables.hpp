#pragma once

#include <kandinsky/calibrator.hpp>
#include <span>
#include <vector>

namespace kandinsky {

/// A stratum whose levels follow the image, as plain numbers for programs that make its sets elsewhere
/// (src/io/onnx, kandinsky.torch).
///
/// An image has a row r, by its shift, and the level l = levels[alpha][r]. Columns are the bins of the
/// distributions that such levels can reach: column i ends at the key edges[i]. A class is in the set at a
/// pixel if its score is at most limits[sure[alpha][r][place]], and it is not if the score exceeds
/// limits[last[alpha][r][place]]. For the few scores between, it is if and only if
///   (above - below) * clamp(key - edges[i], 0, wide) <= (l * unit - below) * wide,
/// where key = scale_key(score), i is the number of edges but the first and the last that lie below it (whose
/// ends the score exceeds), wide = edges[i + 1] - edges[i], and below and above are the sums of the shares
/// in columns i and i + 1 of the pixel's cells, times their weights.
struct AdaptedTables {
    // The row: the largest over the fits of constant + sum of slope * clamp(feature, low, high), at most
    // kLargestShift either way, times kSteps, rounded up, less `least`.
    static constexpr std::int32_t kSteps = Adaptation::kUnit / Adaptation::kStep;
    std::vector<double> slope, low, high;  ///< [feature][fit]
    std::vector<double> constant;          ///< [fit]
    std::int32_t least = 0;                ///< shift, in steps

    std::vector<std::vector<std::uint32_t>> levels;      ///< [alpha][row]
    std::vector<std::vector<std::uint16_t>> sure, last;  ///< [alpha][row][place]
    /// Scores: kParts to a column, evenly by key, the last edge, the largest score, and both infinities. So
    /// fine, the two limits of a place differ little, and few scores lie between.
    std::vector<float> limits;
    static constexpr std::size_t kParts = 64;  ///< fewer where 16 bits could not number the limits

    std::vector<std::int64_t> edges;   ///< [column]; at least two
    std::vector<float> ends;           ///< [column] the largest score whose key is at most the edge
    std::vector<std::uint32_t> share;  ///< [cell][column], ascending, 0 to SmoothCurves::kOne
    std::int64_t unit = 1;             ///< what the weights of a pixel's cells sum to
    /// Powers of 2 between which the distances lie whose logarithms make the keys of open scores.
    int low_exponent = 0, high_exponent = 0;

    /// Rows or columns of the image on the lattice of cells: the two cells around and their weights. Those
    /// between the same two have one place.
    struct Axis {
        std::vector<std::int64_t> low, high, low_weight, high_weight, place;
    };
    Axis down, across;                 ///< of a lattice
    std::vector<std::int64_t> region;  ///< [pixel] the cell that it reads alone, also its place; or a lattice
    std::size_t width = 1;             ///< of the lattice, in cells

    [[nodiscard]] std::size_t columns() const { return edges.size(); }
    [[nodiscard]] std::size_t cells() const { return share.size() / columns(); }
    [[nodiscard]] std::size_t rows() const { return levels.front().size(); }
    [[nodiscard]] std::size_t places_down() const {
        return region.empty() ? static_cast<std::size_t>(down.place.back()) + 1 : 1;
    }
    [[nodiscard]] std::size_t places_across() const {
        return region.empty() ? static_cast<std::size_t>(across.place.back()) + 1 : cells();
    }
};

/// For a stratum with adaptation_of(). Throws as Predictor does for alphas that it cannot keep.
[[nodiscard]] AdaptedTables adapted_tables(const Calibrator& calibrator, std::size_t stratum,
                                           std::span<const double> alphas);

}  // namespace kandinsky
