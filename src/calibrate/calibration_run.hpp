#pragma once

#include <kandinsky/calibrator.hpp>
#include <memory>
#include <vector>

#include "partition/method.hpp"
#include "curve/build_curve.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/region_pass.hpp"
#include "partition/soft_method.hpp"
#include "score/census.hpp"
#include "score/image_features.hpp"

namespace kandinsky {

/// The rule for storing curves if a calibrator has that many.
[[nodiscard]] CurveRule rule_for(const CalibrateOptions& options, std::size_t curves);
/// Whether every pixel is its own region.
[[nodiscard]] bool is_pixelwise(const Partition& partition);
[[nodiscard]] std::size_t curve_count(const std::vector<Partition>& partitions);
/// The regions that a method finds: `input` needs grid, stratum, counts and, where the method looks at them,
/// features; the rest comes from the options.
[[nodiscard]] Partition fit_region(const CalibrateOptions& options, PartitionInput input, Progress& progress);
/// Records which curve each pixel uses.
void assign_levels(Calibrator& calibrator);
/// Options as they take effect. Throws a usage error for values out of range.
[[nodiscard]] CalibrateOptions effective(CalibrateOptions options);
/// The rule that `promise` means with that many groups: Promise::automatic is resolved, and methods that
/// learn nothing need no rule. `share`: the mean weight of a group relative to the bound.
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

/// What one pass over the scores of every pixel computes.
struct PixelWalk {
    bool features = false;  ///< for methods that look at curves
    bool curves = false;    ///< of the pixels themselves

    [[nodiscard]] bool any() const { return features || curves; }
};

/// The data of one calibration run, shared by all methods that are fitted to it. Options are as they take
/// effect; all share score, condition, quantiles, pooling and rungs.
class CalibrationRun {
  public:
    /// `wanted` announces what will be requested, so that one pass computes all of it. If the scores fit into
    /// memory, the first pass over the data (census) already gathers them.
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
    std::unique_ptr<PixelRows>
        gathered_;  ///< gathered by the census; released after the first pass over the pixels
    std::vector<std::uint64_t> weights_;  ///< [group]; empty: all groups have equal weight
    std::vector<float> features_;
    std::vector<std::vector<ImageFeatures>> image_features_;  ///< [image][stratum] once asked for
    std::vector<CurveSet> pixel_curves_;                      ///< until they are asked for
};

}  // namespace kandinsky
