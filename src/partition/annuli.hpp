#pragma once

#include <kandinsky/grid.hpp>
#include <kandinsky/progress.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/team/team.hpp"

namespace kandinsky {

/// The shape of the rings.
enum class AnnuliShape {
    circle,   ///< circles around one centre
    ellipse,  ///< ellipses of one centre, axis ratio and angle
};
/// The distance between two pixels' curve vectors.
enum class AnnuliMetric {
    euclidean,    ///< the paper's
    sqeuclidean,  ///< its square
    manhattan,    ///< sum of absolute differences
};
/// The weight of a pair of pixels.
enum class AnnuliWeights {
    none,    ///< 1 for every pair
    counts,  ///< the product of the two pixels' weights: their numbers of scores, scaled to mean 1
};

/// Where the origin lies, and to which region the edge between two regions belongs.
enum class AnnuliRule {
    consistent,  ///< origin in the middle of the grid; regions [lo, hi) in fitness and mask alike
    released,    ///< origin at pixel (W/2, H/2) rounded down; [lo, hi) in fitness, (lo, hi] in mask
};

/// Concentric circles or ellipses, in pixels, x to the right and y up. The `radii` ascend; r radii bound r +
/// 1 regions, of which the last has no outer limit. An ellipse of radius R has the area of the circle: half
/// axes R sqrt(axis_ratio) along `angle` (counter-clockwise from x) and R / sqrt(axis_ratio).
struct Annuli {
    double cx = 0;              ///< how far the centre lies to the right of the origin (AnnuliRule)
    double cy = 0;              ///< how far the centre lies above the origin
    std::vector<double> radii;  ///< ascending
    double axis_ratio = 1;      ///< long by short half axis; 1: circles
    double angle = 0;           ///< of the long axis, in radians

    friend bool operator==(const Annuli&, const Annuli&) = default;
};

/// The curve vectors of all pixels.
struct AnnuliPoints {
    Grid grid;                      ///< that the pixels lie on
    std::size_t values = 0;         ///< per pixel
    std::span<const float> points;  ///< [pixel][value]; a pixel with a value that is not finite has no data
    std::span<const std::uint32_t> counts;        ///< [pixel], 0: no data, never read; empty: all have data
    AnnuliWeights weights = AnnuliWeights::none;  ///< the weight of a pair
};

/// The search box: |cx| <= centre_x, |cy| <= centre_y, radii in [0, inner], the last in [0, outer], ellipses
/// with axis ratio in [1, axis_ratio] at any angle (1/ratio is the same ellipse turned by 90 degrees).
struct AnnuliBounds {
    double centre_x = 0;    ///< largest distance of the centre from the middle, to the sides
    double centre_y = 0;    ///< the same up and down
    double inner = 0;       ///< largest radius of all but the last
    double outer = 0;       ///< largest radius of the last
    double axis_ratio = 3;  ///< largest axis ratio of an ellipse
};

/// "auto" scales with the grid; "coco" and "decathlon" are the paper's, in pixels. Throws a usage error for
/// another preset.
[[nodiscard]] AnnuliBounds annuli_bounds(std::string_view preset, const Grid& grid);

/// Parameter rows as Python passes them: cx, cy, r0, r1, ... and for ellipses two more, axis ratio and angle.
/// Throws a data error for rows that are too short or incomplete, a usage error for invalid annuli.
[[nodiscard]] std::vector<Annuli> annuli_from_rows(std::span<const double> rows, std::size_t columns,
                                                   AnnuliShape shape);

/// The fitness of each candidate: (1/(H W)) * sum over regions of the sum over ordered pairs of pixels with
/// data of the distance between their vectors. Every pair counts. Euclidean distances and short sums of them
/// are float32 (relative error about 1e-7), the rest float64. Euclidean costs O(n^2) per candidate, the
/// others O(n). The bits do not depend on the number of threads or the vector unit. Throws a usage error for
/// invalid annuli or weights without counts, a data error if the points do not fit the grid.
[[nodiscard]] std::vector<double> annuli_fitness(const AnnuliPoints& points,
                                                 std::span<const Annuli> candidates,
                                                 AnnuliMetric metric = AnnuliMetric::euclidean,
                                                 AnnuliRule rule = AnnuliRule::consistent);

/// Region number of every pixel. `consistent`: from 0 inside the first radius to radii.size() outside the
/// last. `released`: the same plus 1, but 0 for a pixel exactly on the centre. Throws a usage error for
/// invalid annuli.
[[nodiscard]] std::vector<std::uint32_t> annuli_mask(const Grid& grid, const Annuli& annuli,
                                                     AnnuliRule rule = AnnuliRule::consistent);

/// How fit_annuli() searches.
struct AnnuliOptions {
    AnnuliShape shape = AnnuliShape::circle;        ///< circles or ellipses
    std::size_t radii = 3;                          ///< 1 to 16
    AnnuliMetric metric = AnnuliMetric::euclidean;  ///< the distance in the fitness
    AnnuliRule rule = AnnuliRule::consistent;       ///< where the origin lies
    std::optional<AnnuliBounds> bounds;             ///< absent: annuli_bounds("auto", grid)
    std::size_t population = 0;                     ///< 4 or more; 0: 6 per parameter, at least 60
    std::size_t generations = 400;                  ///< largest number
    double spread =
        3e-4;  ///< stop when the standard deviation of the fitness, relative to its mean, is at most this
    std::size_t stall = 40;  ///< stop after this many generations without progress; 0: never
    std::uint64_t seed = 0;  ///< of the random numbers
    const Team* team =
        nullptr;  ///< ranks that search together, each with a share of the candidates; null: one process
};

/// One line of the search's log, with the fitness that guided the search (see AnnuliFit::surrogate).
struct AnnuliGeneration {
    std::size_t generation = 0;  ///< its number, from 0
    double best = 0;             ///< fitness of the best member
    double mean = 0;             ///< over the population
    double spread = 0;           ///< standard deviation over the population

    friend bool operator==(const AnnuliGeneration&, const AnnuliGeneration&) = default;
};

/// What fit_annuli() found, and how.
struct AnnuliFit {
    Annuli annuli;                      ///< the best that was found
    double fitness = 0;                 ///< exact, what annuli_fitness returns for `annuli`
    bool surrogate = false;             ///< the evolution was guided by a code book, not by the exact sum
    std::size_t generations = 0;        ///< generations of the evolution
    std::size_t evaluations = 0;        ///< evaluations of the fitness that guided the evolution
    std::size_t refinements = 0;        ///< tries of the local search after the evolution
    std::string_view stopped;           ///< "spread", "stall" or "limit"
    AnnuliBounds bounds;                ///< the box that was searched
    std::vector<AnnuliGeneration> log;  ///< one line per generation
};

/// Finds the rings by differential evolution and a local search; the fitness of the result is exact. The
/// result depends on points, options and seed, not on the number of threads or ranks. Throws a usage error
/// for options out of range, a data error if the points do not fit the grid or sums of their distances are
/// not finite, and Interrupted when `progress` asks to stop.
[[nodiscard]] AnnuliFit fit_annuli(const AnnuliPoints& points, const AnnuliOptions& options,
                                   Progress& progress = silent());

}  // namespace kandinsky
