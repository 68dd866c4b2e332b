#pragma once

#include <span>
#include <string>
#include <vector>

#include <kandinsky/grid.hpp>
#include <kandinsky/progress.hpp>

// Fourier concentric clustering: nested polar curves around one centre, found by minimising the variances of
// a vector-valued field J on the bands between them. docs/methods.md has the formulas.

namespace kandinsky {

/// The limit of the outermost curve: the image rectangle, or the largest circle about the centre (the
/// paper's, if the centre is in the middle).
enum class FourierLimit {
    rectangle,  ///< the image
    circle,     ///< the paper's
};
/// The centre of the curves: the middle of the image (the paper), or two more unknowns.
enum class FourierCentre {
    middle,  ///< of the image
    free,    ///< found together with the curves
};
/// The variances of the bands have equal weight (the paper), or are weighted by their share of the area.
enum class FourierVariance {
    mean,  ///< equal weight
    area,  ///< weighted by area
};

/// The options of fit_fourier_curves().
struct FourierOptions {
    std::uint32_t curves = 3;                          ///< m; they bound m + 1 bands
    std::uint32_t order = 8;                           ///< K; the series has the harmonics |k| <= K - 1
    FourierLimit limit = FourierLimit::rectangle;      ///< of the outermost curve
    FourierCentre centre = FourierCentre::middle;      ///< of all curves
    FourierVariance variance = FourierVariance::mean;  ///< what is minimised
    double penalty = 1e-3;                             ///< w, weight of the nesting penalty
    std::uint32_t angles = 96;                         ///< K_I, at least 4 K are used
    std::uint32_t nodes = 12;                          ///< K_G, Gauss-Legendre nodes per ray and band
    std::uint32_t starts = 4;                          ///< number of starts; the best result is kept
    std::uint32_t iterations = 150;                    ///< of BFGS, per start and level of blur
};

/// The quantity J whose variances are minimised, on pixel centres (column, row) = (0..W-1, 0..H-1), bilinear
/// between. Pixels with count 0 or with a value that is not finite carry no data and are not used.
struct FourierField {
    Grid grid;                              ///< that the pixels lie on
    std::size_t feature_count = 0;          ///< values per pixel
    std::span<const float> features;        ///< [pixel][feature]
    std::span<const std::uint32_t> counts;  ///< [pixel]
};

/// Nested curves r_l(theta) = scale * (a_0 + 2 sum_{k=1}^{K-1} (re_k cos k theta - im_k sin k theta))^2 in
/// pixels, at the point (column, row) = centre + r (cos theta, sin theta): clockwise, as rows point down.
struct FourierCurves {
    double centre_column = 0;                       ///< of the centre
    double centre_row = 0;                          ///< of the centre
    double scale = 1;                               ///< pixels per unit
    std::uint32_t order = 1;                        ///< K
    std::vector<std::vector<double>> coefficients;  ///< per curve [a_0, re_1, im_1, ..., re_{K-1}, im_{K-1}]

    /// Distance of a curve from the centre, in pixels.
    [[nodiscard]] double radius(std::size_t curve, double theta) const;
};

/// The objective and its parts. total = variance + penalty + floor.
struct FourierObjective {
    double total = 0;     ///< what is minimised
    double variance = 0;  ///< sum (or area-weighted sum) of the bands' variances
    double penalty = 0;   ///< w times the integrals of 1 / gap, gaps in units of the inscribed radius
    /// Keeps bands from vanishing; zero unless a band has less data than `floor_area` pixels or the innermost
    /// curve comes nearer to the centre than `floor_radius`.
    double floor = 0;
    double floor_area = 0;    ///< as used by `floor`
    double floor_radius = 0;  ///< as used by `floor`
    bool feasible = true;     ///< curves positive, nested, inside the limit; total is +inf otherwise
    std::vector<double> band_variance;  ///< m + 1 values, innermost first
    std::vector<double> band_area;      ///< data area in pixels
};

/// The log of one start.
struct FourierStart {
    std::string origin;             ///< where the initial curves came from
    double start_objective = 0;     ///< of the initial curves
    double objective = 0;           ///< of the final ones
    std::uint32_t iterations = 0;   ///< of BFGS
    std::uint32_t evaluations = 0;  ///< of the objective
    std::string stop;               ///< why the last descent ended

    friend bool operator==(const FourierStart&, const FourierStart&) = default;
};

/// What fit_fourier_curves() found, and how.
struct FourierFit {
    FourierCurves curves;              ///< no coefficients when the grid is too small or has no data
    FourierObjective objective;        ///< of these curves
    std::vector<FourierStart> starts;  ///< all that were tried
    std::size_t best = 0;              ///< index of the start that won; ties go to the lowest
};

/// Finds the curves. The same field, options and seed give the same fit for any number of threads. Throws a
/// usage error for options out of range, a data error if the field's spans do not fit its grid, and
/// Interrupted when `progress` asks to stop.
[[nodiscard]] FourierFit fit_fourier_curves(const FourierField& field, const FourierOptions& options,
                                            std::uint64_t seed, Progress& progress = silent());

/// The band of every pixel: the index of the first curve that has the pixel inside or on it. Outside all
/// curves, it is the number of curves.
[[nodiscard]] std::vector<std::uint32_t> fourier_bands(const FourierCurves& curves, const Grid& grid);

}  // namespace kandinsky
