#pragma once

#include <kandinsky/calibrator.hpp>
#include <memory>
#include <vector>

#include "curve/build_curve.hpp"
#include "curve/pixel_rows.hpp"
#include "curve/region_pass.hpp"
#include "partition/method.hpp"
#include "partition/soft_method.hpp"
#include "score/census.hpp"
#include "score/image_features.hpp"

namespace kandinsky {

/// The rule for storing curves in a calibrator with that many curves.
[[nodiscard]] CurveRule rule_for(const CalibrateOptions& options, std::size_t curves);
/// Whether every pixel is its own region.
[[nodiscard]] bool is_pixelwise(const Partition& partition);
[[nodiscard]] std::size_t curve_count(const std::vector<Partition>& partitions);
/// The regions that the options' method finds. `input` needs grid, stratum, strata, counts and, if the method
/// uses them, features; the fields that options and progress determine are set here. Throws Interrupted if
/// cancelled.
[[nodiscard]] Partition fit_region(const CalibrateOptions& options, PartitionInput input, Progress& progress);
/// Records which curve each pixel uses.
void assign_levels(Calibrator& calibrator);
/// The options with the values that other options determine; promise and fallback may still be automatic.
/// Throws a usage error for values out of range and for options that exclude each other.
[[nodiscard]] CalibrateOptions effective(CalibrateOptions options);
/// The options with the promise and the split in effect for that many groups. Resolves Promise::automatic;
/// methods that learn nothing get Promise::none unless levels follow the image. `share`: the mean weight of a
/// group relative to the bound.
[[nodiscard]] CalibrateOptions with_promise(CalibrateOptions options, std::uint64_t groups, double share = 1);
/// Resolves Fallback::automatic: `image` if a region has too few scores of a class that has scores, otherwise
/// `none`.
void resolve_fallback(Calibrator& calibrator);
/// One region with all pixels.
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
struct PixelScan {
    bool features = false;  ///< of every pixel, for methods that use them
    bool curves = false;    ///< of every pixel

    [[nodiscard]] bool any() const { return features || curves; }
};

/// The data of one calibration run, shared by all methods that are fitted to it. The options come from
/// effective(); all methods share score, condition, quantiles, pooling, rungs, split, promise and
/// `released`.
class CalibrationRun {
  public:
    /// `wanted`: what will be requested later, so that one pass computes all of it. If scores have few
    /// distinct values and fit into memory, the first pass over the data (census) already gathers them.
    CalibrationRun(const Dataset& data, const std::vector<CalibrateOptions>& options, Progress& progress,
                   PixelScan wanted = {});

    [[nodiscard]] const Dataset& data() const { return data_; }
    [[nodiscard]] const Census& census() const { return census_; }
    [[nodiscard]] Progress& progress() const { return progress_; }
    /// [image][stratum]; the first call makes a pass over the data.
    [[nodiscard]] const std::vector<std::vector<ImageFeatures>>& image_features();

    void find_features();  ///< call before region_of() for a method that uses features
    Partition region_of(const CalibrateOptions& options, std::size_t stratum);
    /// The curves that a soft method makes of some strata.
    std::vector<SoftCurves> soft_curves(const CalibrateOptions& options, std::vector<std::uint32_t> strata,
                                        const DataSplit* data_split, const Ladder& ladder);
    /// Exact curves of given regions, one set per stratum.
    std::vector<CurveSet> region_curves(const std::vector<Partition>& partitions, const CurveRule& rule);
    std::vector<CurveSet> pixel_curves(const CurveRule& rule);  ///< of every pixel
    /// A calibrator of these curves. With Fallback::image, appends the image-wide curve to each set.
    /// `smooth`: empty, or one entry for each stratum; strata without smooth curves have an empty entry.
    Calibrator finish(const CalibrateOptions& options, std::vector<Partition> partitions,
                      std::vector<CurveSet> curves, std::vector<SmoothCurves> smooth = {});

  private:
    void scan_pixels(PixelScan now, const CurveRule& rule);
    /// The rule with the weights of these data's groups.
    [[nodiscard]] CurveRule weighed(CurveRule rule) const;

    const Dataset& data_;
    Progress& progress_;
    CalibrateOptions common_;
    PixelScan wanted_;  ///< announced, but not computed yet
    Census census_;
    std::unique_ptr<PixelRows>
        gathered_;  ///< gathered by the census; released after the first pass over the pixels
    std::vector<std::uint64_t> weights_;  ///< [group]; empty: all groups have equal weight
    std::vector<float> features_;
    std::vector<std::vector<ImageFeatures>> image_features_;  ///< [image][stratum] after the first request
    std::vector<CurveSet> pixel_curves_;                      ///< kept until they are requested
};

}  // namespace kandinsky
