#pragma once

#include <cstddef>
#include <cstdint>
#include <kandinsky/annuli.hpp>
#include <span>
#include <vector>

#include "partition/genann/kernels.hpp"
#include "partition/genann/spans.hpp"

namespace kandinsky::partition::genann {

/// Points stored value by value with the slack that pair_sum wants.
class PointTable {
  public:
    PointTable(std::size_t count, std::size_t dimensions, bool weighted);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
    [[nodiscard]] bool weighted() const { return !weights_.empty(); }
    [[nodiscard]] float& value(std::size_t q, std::size_t i) { return values_[q * stride_ + i]; }
    [[nodiscard]] float value(std::size_t q, std::size_t i) const { return values_[q * stride_ + i]; }
    [[nodiscard]] float& weight(std::size_t i) { return weights_[i]; }
    [[nodiscard]] float weight(std::size_t i) const { return weights_.empty() ? 1.0f : weights_[i]; }
    [[nodiscard]] PointBlock block(std::size_t first, std::size_t last) const;
    /// The points numbered by `index`, in that order.
    [[nodiscard]] PointTable gather(std::span<const std::uint32_t> index) const;

  private:
    std::size_t count_, dimensions_, stride_;
    std::vector<float> values_;
    std::vector<float> weights_;
};

/// The pixels that have data, in grid order; nothing about the others is kept but where they are not.
struct Cloud {
    Grid grid;
    PointTable points;
    std::vector<std::uint32_t> before;  ///< [pixel + 1]: pixels with data among those before

    /// Throws a data error when the shapes do not agree.
    explicit Cloud(const AnnuliPoints& input);

    [[nodiscard]] std::size_t size() const { return points.count(); }
    /// Calls visit(first, last) for the runs of one region as point numbers [first, last), in ascending
    /// order.
    template <class Visit>
    void visit_region(const Spans& spans, std::size_t region, const Visit& visit_run) const {
        spans.visit_region(region, [&](std::size_t first, std::size_t last) {
            if (before[last] > before[first])
                visit_run(static_cast<std::size_t>(before[first]), static_cast<std::size_t>(before[last]));
        });
    }
};

}  // namespace kandinsky::partition::genann
