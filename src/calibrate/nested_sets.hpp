#pragma once

#include <kandinsky/calibrator.hpp>
#include <span>

namespace kandinsky {

/// The sets of a calibrator as one nested sequence for each stratum. Step k has the sets of rung k of the
/// ladder, for regions, smooth curves and levels that follow the image. The calibrator must outlive the
/// object. Const use is thread-safe.
class NestedSets {
  public:
    explicit NestedSets(const Calibrator& base);

    [[nodiscard]] const Calibrator& base() const { return base_; }
    [[nodiscard]] std::size_t steps() const { return ladder_.levels.size(); }  ///< of every stratum
    [[nodiscard]] double alpha(std::size_t step) const { return 1 - ladder_.levels[step]; }

    /// The first step whose sets contain the class, for scores of a stratum at the pixels of a range; steps()
    /// if there is none. `shift`: of the image, if levels follow it.
    void enter_at(std::size_t stratum, std::int32_t shift, PixelRange range, const float* scores,
                  std::uint16_t* out) const;

    /// The threshold of a stratum's curve at a step.
    [[nodiscard]] float threshold(std::size_t stratum, std::size_t curve, std::size_t step) const {
        return base_.curves[stratum].threshold(curve, alpha(step), step);
    }

  private:
    const Calibrator& base_;
    Ladder ladder_;
    std::vector<std::vector<float>> table_;           ///< [stratum][curve][step] unless that is too large
    std::vector<std::vector<std::uint16_t>> smooth_;  ///< [stratum][level] the step, for smooth curves
};

/// Used instead of a step: thresholds are infinite, so the class is in every set.
inline constexpr std::uint32_t kEveryClass = 0xFFFFFFFF;

/// Changes the steps at which the curves of a stratum are read: rung k of `ladder` is read at steps[k], which
/// ascend; kEveryClass makes thresholds infinite. `groups`: the number of groups that set the levels.
void read_at_steps(const NestedSets& sets, std::size_t stratum, std::span<const std::uint32_t> steps,
                   const Ladder& ladder, std::uint64_t groups, Calibrator& out);

/// A calibrator with one region for each stratum. Its steps are fixed thresholds on the score.
[[nodiscard]] Calibrator fixed_steps(const CalibrateOptions& options, const Grid& grid, std::size_t classes,
                                     std::size_t strata);

}  // namespace kandinsky
