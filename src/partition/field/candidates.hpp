#pragma once

#include <memory>
#include <span>
#include <vector>

#include "partition/histograms.hpp"
#include "partition/smooth.hpp"

namespace kandinsky::partition::field {

/// Scores per pixel around every cell of a lattice: those of the cells (`counts`), smoothed by a Gaussian of
/// `sd` cells. Only pixels inside the image count.
[[nodiscard]] std::vector<double> smoothed_counts(const Cells& cells, std::span<const float> counts,
                                                  double sd);

/// z = log(smoothed scores per pixel + 1/4): how common the class is around a cell.
[[nodiscard]] std::vector<double> prevalence(const Cells& cells, std::span<const float> counts, double sd);

/// Sums of the cells' votes by prevalence, in 96 bins. The votes of a cell with n scores per pixel are its
/// cumulative numbers of scores per pixel, divided by n + 2.
struct RingSums {
    static constexpr std::size_t kBins = 96;
    double low = 0, step = 0;  ///< the first bin's centre and the distance to the next
    std::size_t depth = 0;
    std::vector<double> own;     ///< [prevalence bin][score bin]
    std::vector<double> mirror;  ///< each cell's votes together with those of its left-right mirror image

    RingSums(const Cells& cells, const Plane& votes, std::span<const double> z);
};

/// Distributions of cells where the class is about equally common. They use all cells r with weights
/// exp(-(z_p - z_r)^2 / (2 tau^2)), where z_r is rounded to the centre of its bin. A cell's distribution is
/// interpolated between the two nearest bin centres.
class Rings {
  public:
    /// Needs at least one vote.
    Rings(const RingSums& sums, double tau, bool mirror);

    /// The cumulative distribution for a prevalence, 1 at the last bin.
    void at(double z, float* out) const;

  private:
    double low_, step_;
    Plane table_;
};

/// One way for cells to share their scores.
struct Candidate {
    enum class Kind {
        image,  ///< all scores of the class have equal weight
        space,  ///< neighbours, by a Gaussian of standard deviation `bandwidth`
        rings,  ///< cells whose prevalence, smoothed over `bandwidth`, is equal within `tau`
    };
    Kind kind = Kind::image;
    double bandwidth = 0;  ///< in cells
    bool mirror = false;   ///< each cell together with its left-right mirror image
    double tau = 0;        ///< in units of prevalence()
};

struct CandidateOptions {
    std::vector<double> bandwidths;  ///< ascending, in cells; empty: by the grid's size
    bool mirror = true;
    bool rings = true;
};

/// In this order: image, space by ascending bandwidth (each plain, then mirrored), rings.
[[nodiscard]] std::vector<Candidate> make_candidates(const Grid& grid, const CandidateOptions& options);
/// The plain spatial candidate with bandwidth nearest to 1/40 of the height. Its increments weight the loss.
[[nodiscard]] std::size_t pilot_of(const std::vector<Candidate>& candidates, const Grid& grid);

/// The candidates' cumulative distributions in every cell, fitted to all folds except one.
class CandidateFields {
  public:
    /// fold >= histograms.folds(): fitted to all folds. There must be scores to fit to.
    CandidateFields(const Cells& cells, const FoldHistograms& histograms, std::size_t fold,
                    const std::vector<Candidate>& candidates);

    /// The distribution of one candidate: out[bin] ascends in the bin and is 1 at the last. Where a kernel
    /// finds no votes, the next wider kernel is used; after the widest, image(). Thread-safe.
    void at(std::size_t cell, std::size_t candidate, float* out) const;
    /// How much data the class has around a cell, from 0 to 1: n / (n + 2) if there are n * `unit` scores per
    /// pixel.
    [[nodiscard]] float support(std::size_t cell, double unit = 1) const;
    /// The distribution of all scores with equal weights.
    [[nodiscard]] const std::vector<float>& image() const { return image_; }
    /// Whether there is any score in all folds except one.
    [[nodiscard]] static bool possible(const FoldHistograms& histograms, std::size_t fold);

  private:
    struct Ring {
        std::shared_ptr<const std::vector<double>> z;
        Rings rings;
    };
    [[nodiscard]] bool kernel_at(std::size_t cell, const Smooth& smooth, bool mirror, float* out) const;

    Grid grid_;
    std::vector<BetweenCells> mirrored_;  ///< [column]
    std::size_t bins_;
    std::vector<Candidate> candidates_;
    std::vector<float> image_;
    std::vector<double> around_;                      ///< scores per pixel in the surroundings of each cell
    std::vector<std::pair<double, Smooth>> smooths_;  ///< by ascending bandwidth
    std::vector<Ring> rings_;
    std::vector<std::size_t> place_;  ///< [candidate] in smooths_ or rings_
};

}  // namespace kandinsky::partition::field
