#pragma once

#include <cstdint>
#include <kandinsky/annuli.hpp>
#include <span>
#include <utility>

#include "partition/genann/cloud.hpp"

namespace kandinsky::partition::genann {

/// A point near an edge, on its way to the other side.
struct Moving {
    double squared = 0;  ///< its distance from the centre
    std::uint32_t point = 0;
};

/// Knows what it costs to move points from one region into another, one after the other.
class Sweeper {
  public:
    virtual ~Sweeper() = default;
    /// The best number of points of `moving`, taken in order, to bring from their region `from` into `to`,
    /// and the change of the sum over ordered pairs that it makes (at most 0). Points at the same distance
    /// move together.
    [[nodiscard]] virtual std::pair<std::size_t, double> best_move(
        std::span<const Moving> moving, std::span<const std::uint32_t> from,
        std::span<const std::uint32_t> to) const = 0;
};

/// Every pair by its Euclidean distance: O(moving * (from + to)), in parallel.
class ExactSweeper final : public Sweeper {
  public:
    explicit ExactSweeper(const Cloud& cloud) : cloud_(cloud) {}
    [[nodiscard]] std::pair<std::size_t, double> best_move(std::span<const Moving> moving,
                                                           std::span<const std::uint32_t> from,
                                                           std::span<const std::uint32_t> to) const override;

  private:
    const Cloud& cloud_;
};

/// Moves radius number k of `annuli` to the place within `window` pixels (and between its neighbours, at most
/// `limit`) where the sweeper's fitness is least: every pixel in the window is moved over the edge in turn,
/// in order of distance. Returns the change of the fitness, at most 0.
double sweep_radius(const Cloud& cloud, const Sweeper& sweeper, Origin origin, Annuli& annuli, std::size_t k,
                    double window, double limit);

}  // namespace kandinsky::partition::genann
