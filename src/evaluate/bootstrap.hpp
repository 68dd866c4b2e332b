#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/progress.hpp>
#include <span>
#include <vector>

#include "core/team/team.hpp"

namespace kandinsky {

/// How often each test group of this rank is drawn in each resample. The constructor and ratios() are
/// collective. The draws depend on the groups' ids or the images' content, never on their order. With at most
/// kRankedGroups groups on all ranks together, a resample draws as many groups as there are, with
/// replacement; this sends 512 KiB over the network. With more groups, each group is drawn a Poisson number
/// of times with mean 1, the limit of drawing with replacement; this sends nothing.
class Resamples {
  public:
    Resamples() = default;
    Resamples(const Dataset& data, std::size_t count, std::uint64_t seed, Progress& progress);

    [[nodiscard]] std::size_t count() const { return count_; }
    /// The length of the rows of times(), a multiple of 16 for vector code; entries beyond count() are zero.
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] const std::uint16_t* times(std::uint32_t group) const {
        return times_.data() + group * stride_;
    }
    /// The largest number of images in a resample; only for a single process.
    [[nodiscard]] std::uint64_t most_images() const { return most_images_; }

    [[nodiscard]] Communicator& comm() const { return *comm_; }

    /// [resample] the sum of `top` over the drawn groups of all ranks, divided by that of `bottom`. Both are
    /// [group] of this rank. NaN if the sum of `bottom` is 0.
    [[nodiscard]] std::vector<double> ratios(std::span<const std::uint64_t> top,
                                             std::span<const std::uint64_t> bottom) const;

  private:
    void draw(const std::vector<std::uint64_t>& own_who, std::uint64_t seed);
    void draw_apart(const std::vector<std::uint64_t>& own_who, std::uint64_t seed);

    Communicator* comm_ = &alone();
    std::size_t count_ = 0, stride_ = 0;
    std::uint64_t most_images_ = 0;
    std::vector<std::uint16_t> times_;  ///< [group][stride]
};

/// The 0.05 and 0.95 quantiles of a figure over the resamples; NaN values are left out.
[[nodiscard]] Interval percentile_interval(const std::vector<double>& values);

/// The mean over the resamples minus the figure itself.
[[nodiscard]] double bootstrap_bias(const std::vector<double>& values, double figure);

/// The percentile interval minus the bias, with bounds of at least 0: for means of absolute deviations, which
/// resampling increases. NaN if the figure or every value is NaN.
[[nodiscard]] Interval centred_interval(const std::vector<double>& values, double figure);

}  // namespace kandinsky
