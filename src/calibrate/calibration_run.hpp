#pragma once

#include <kandinsky/calibrator.hpp>
#include <memory>
#include <vector>

#include "curve/build_curve.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/region_pass.hpp"
#include "partition/soft_method.hpp"
#include "score/census.hpp"
#include "score/image_features.hpp"

namespace kandinsky {

/// How curves are kept when a calibrator has so many of them.
[[nodiscard]] CurveRule rule_for(const CalibrateOptions& options, std::size_t curves);
/// Whether every pixel is its own region.
[[nodiscard]] bool is_pixelwise(const Partition& partition);
[[nodiscard]] std::size_t curve_count(const std::vector<Partition>& partitions);
/// The regions that a method finds: `input` needs grid, stratum, counts and, where the method looks at them,
/// features; the rest comes from the options.
[[nodiscard]] Partition fit_region(const CalibrateOptions& options, PartitionInput input, Progress& progress);
/// Notes whose curve each pixel uses.
void assign_levels(Calibrator& calibrator);
/// Options as they take effect. Throws a usage error for values out of range.
[[nodiscard]] CalibrateOptions effective(CalibrateOptions options);
/// The rule that a promise stands for with so many groups: Promise::automatic is settled, and methods that
/// learn nothing need none. `share`: of the bound that a group weighs on average.
[[nodiscard]] CalibrateOptions with_promise(CalibrateOptions options, std::uint64_t groups, double share = 1);
/// Fallback::automatic becomes `image` where a region is short of scores, else `none`.
void resolve_fallback(Calibrator& calibrator);
/// All pixels together.
[[nodiscard]] Partition whole_image(const Grid& grid);

/// The progress of one of many fits: not shown, but it can be cancelled.
class Muted final : public Progress {
  public:
    explicit Muted(const Progress& asked) : asked_(asked) {}
    [[nodiscard]] bool cancelled() const override { return asked_.cancelled(); }

  private:
    const Progress& asked_;
};

/// What a walk over the scores of every pixel takes along.
struct PixelWalk {
    bool features = false;  ///< for methods that look at curves
    bool curves = false;    ///< of the pixels themselves

    [[nodiscard]] bool any() const { return features || curves; }
};

/// The data of one calibration run, shared by all methods that are fitted to it. Options are as they take
/// effect; all share score, condition, quantiles, pooling and rungs.
class CalibrationRun {
  public:
    /// `wanted` will be asked for: one walk takes all of it, which the look at the data begins on its way
    /// where the scores fit into memory.
    CalibrationRun(const Dataset& data, const std::vector<CalibrateOptions>& options, Progress& progress,
                   PixelWalk wanted = {});

    [[nodiscard]] const Dataset& data() const { return data_; }
    [[nodiscard]] const Census& census() const { return census_; }
    [[nodiscard]] Progress& progress() const { return progress_; }
    /// [image][stratum], in a pass of its own when asked for the first time.
    [[nodiscard]] const std::vector<std::vector<ImageFeatures>>& image_features();

    void find_features();  ///< before region_of() for a method that looks at curves
    Partition region_of(const CalibrateOptions& options, std::size_t stratum);
    /// The curves that a soft method makes of some strata.
    std::vector<SoftCurves> soft_curves(const CalibrateOptions& options, std::vector<std::uint32_t> strata,
                                        const DataSplit* data_split, const Ladder& ladder);
    /// Exact curves of given regions, one set per stratum.
    std::vector<CurveSet> region_curves(const std::vector<Partition>& partitions, const CurveRule& rule);
    std::vector<CurveSet> pixel_curves(const CurveRule& rule);  ///< of every pixel
    /// `smooth`: of the strata that have smooth curves, the others empty; or none.
    Calibrator finish(const CalibrateOptions& options, std::vector<Partition> partitions,
                      std::vector<CurveSet> curves, std::vector<SmoothCurves> smooth = {});

  private:
    void walk_pixels(PixelWalk now, const CurveRule& rule);
    /// The rule with what groups of these data weigh.
    [[nodiscard]] CurveRule weighed(CurveRule rule) const;

    const Dataset& data_;
    Progress& progress_;
    CalibrateOptions common_;
    PixelWalk wanted_;  ///< and not taken yet
    Census census_;
    std::unique_ptr<PixelRows> gathered_;  ///< by the census; until the first walk over the pixels
    std::vector<std::uint64_t> weights_;   ///< [group]; empty: all groups weigh alike
    std::vector<float> features_;
    std::vector<std::vector<ImageFeatures>> image_features_;  ///< [image][stratum] once asked for
    std::vector<CurveSet> pixel_curves_;                      ///< until they are asked for
};

}  // namespace kandinsky
