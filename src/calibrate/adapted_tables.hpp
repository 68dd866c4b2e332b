#pragma once

#include <kandinsky/calibrator.hpp>
#include <span>
#include <vector>

namespace kandinsky {

/// A stratum whose levels follow the image, as plain numbers for programs that compute its sets elsewhere
/// (src/io/onnx, kandinsky.torch).
///
/// The shift of an image determines its row r; the image's level is l = levels[alpha][r]. Columns are the
/// bins of the distributions that such levels can reach: column i ends at the key edges[i]. A class is in the
/// set at a pixel if its score is at most limits[sure[alpha][r][place]]. It is not in the set if its score
/// exceeds limits[last[alpha][r][place]]. For the few scores between, it is in the set if and only if
///   (above - below) * clamp(key - edges[i], 0, wide) <= (l * unit - below) * wide,
/// where key = scale_key(score), wide = edges[i + 1] - edges[i], and below and above are the weighted sums of
/// the shares of the pixel's cells in columns i and i + 1. i is the number of edges below the key, where the
/// first and the last edge are not counted. Edge j is below the key if the score exceeds ends[j].
struct AdaptedTables {
    // The row of an image: the largest over the fits of constant + sum of slope * clamp(feature, low, high),
    // clamped to plus or minus kLargestShift, times kSteps, rounded up, minus `least`.
    static constexpr std::int32_t kSteps = Adaptation::kUnit / Adaptation::kStep;
    std::vector<double> slope, low, high;  ///< [feature][fit]
    std::vector<double> constant;          ///< [fit]
    std::int32_t least = 0;                ///< shift of row 0, in steps

    std::vector<std::vector<std::uint32_t>> levels;      ///< [alpha][row]
    std::vector<std::vector<std::uint16_t>> sure, last;  ///< [alpha][row][place]
    /// Scores: kParts for each column except the last, with equally spaced keys, then the end of the last
    /// column, the largest score and both infinities. They are so dense that few scores lie between the two
    /// limits of a place.
    std::vector<float> limits;
    static constexpr std::size_t kParts = 64;  ///< fewer if 16 bits could not number the limits otherwise

    std::vector<std::int64_t> edges;   ///< [column]; at least two
    std::vector<float> ends;           ///< [column] the largest score whose key is at most the edge
    std::vector<std::uint32_t> share;  ///< [cell][column], ascending, 0 to SmoothCurves::kOne
    std::int64_t unit = 1;             ///< sum of the weights of a pixel's cells
    /// The range of the exponents of 2 in scale_key(), for scores between the two limits of a place.
    int low_exponent = 0, high_exponent = 0;

    /// [row or column of the image] the two rows or columns of cells around it and their weights. Rows or
    /// columns between the same two have the same place.
    struct Axis {
        std::vector<std::int64_t> low, high, low_weight, high_weight, place;
    };
    Axis down, across;                 ///< of a lattice
    std::vector<std::int64_t> region;  ///< [pixel] its only cell, also its place; empty: a lattice
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

/// The tables of a stratum with adaptation_of(). Throws a usage error for an alpha that cannot be guaranteed,
/// as Predictor does, and for a calibrator whose Adaptation::step() is not kStep.
[[nodiscard]] AdaptedTables adapted_tables(const Calibrator& calibrator, std::size_t stratum,
                                           std::span<const double> alphas);

}  // namespace kandinsky
