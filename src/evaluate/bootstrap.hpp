#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/progress.hpp>
#include <span>
#include <vector>

#include "core/team/team.hpp"

namespace kandinsky {

/// How often each test group of this rank stands in each of some resamples. Follows the groups' ids or the
/// images' content, never their order. Up to kRankedGroups groups on all ranks: as many as there are, drawn
/// with replacement from their common order, for which 8 bytes of each cross the network. More: every group
/// for itself, by a Poisson number of mean 1, which so many draws with replacement come to; nothing is sent.
class Resamples {
  public:
    Resamples() = default;
    Resamples(const Dataset& data, std::size_t count, std::uint64_t seed, Progress& progress);

    [[nodiscard]] std::size_t count() const { return count_; }
    /// Rows of times() are that long, a multiple of 16 for vector code; beyond count() they are zero.
    [[nodiscard]] std::size_t stride() const { return stride_; }
    [[nodiscard]] const std::uint16_t* times(std::uint32_t group) const {
        return times_.data() + group * stride_;
    }
    /// No resample has more images than that; a process alone knows.
    [[nodiscard]] std::uint64_t most_images() const { return most_images_; }

    [[nodiscard]] Communicator& comm() const { return *comm_; }

    /// For every resample: the sum of top over the sum of bottom, each [group]; NaN where that is 0.
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

/// The mean over the resamples, less the figure itself.
[[nodiscard]] double bootstrap_bias(const std::vector<double>& values, double figure);

/// The percentile interval moved by the bias: for means of absolute deviations, which repeated samples raise.
[[nodiscard]] Interval centred_interval(const std::vector<double>& values, double figure);

}  // namespace kandinsky
