#pragma once

#include "report/data/report_input.hpp"

namespace kandinsky {

/// Coverage of square blocks of pixels, [kCurveLevels][rows][columns] in percent; 255 without test samples.
[[nodiscard]] std::vector<std::uint8_t> coverage_blocks(const MethodTally& tally, std::size_t stratum,
                                                        const Grid& grid, std::size_t block);

/// The range of scores; thresholds are stored as places in this range. Some scores are outside [0, 1].
struct DrawnRange {
    double low = 0, high = 1;
    /// The place of a score: 0 at `low`, 1 at `high`, clamped; infinite for a score that is not finite.
    [[nodiscard]] double place(double score) const;
};

/// [0, 1], or a wider range of round numbers if the calibrators' scores need it.
[[nodiscard]] DrawnRange drawn_range(const std::vector<const Calibrator*>& calibrators);

/// Thresholds of every `stride`-th pixel in both directions (from the middle of the first block on), in the
/// layout of coverage_blocks(): round(64 sqrt(place)), or 255 if not finite. Curves are read at the alphas at
/// which sets read them (read_alphas()). If levels follow the image, thresholds are those of an image with
/// shift 0.
[[nodiscard]] std::vector<std::uint8_t> threshold_samples(const Calibrator& calibrator, std::size_t stratum,
                                                          std::size_t stride, const DrawnRange& range = {});

/// Thresholds of every curve at the slider's levels, [curve][kSliderLevels], read as by threshold_samples():
/// round(65534 place), or 65535 if not finite.
[[nodiscard]] std::vector<std::uint16_t> curve_table(const Calibrator& calibrator, std::size_t stratum,
                                                     const DrawnRange& range = {});

/// Whether a stratum has so many curves that they are stored by pixel.
[[nodiscard]] bool many_curves(const Calibrator& calibrator, std::size_t stratum);

/// Coverage and threshold curves [method][stratum] in the page's form, coarse enough for the limits.
struct PixelCurves {
    std::size_t block = 1;   ///< side of the blocks of the coverage curves
    std::size_t stride = 1;  ///< distance in pixels between threshold curves
    DrawnRange range;        ///< range of all thresholds
    /// Thresholds are null unless many_curves(); the others are in curve_table().
    std::vector<std::vector<nlohmann::ordered_json>> coverage, thresholds;
    /// {"own", "image"}: each null, {"method": number} or {"strata": [blob]}. A blob is as in `thresholds`,
    /// or has one curve.
    nlohmann::ordered_json references;
};
[[nodiscard]] PixelCurves pixel_curves(const ReportInput& input, const Tally& tally,
                                       const ReportLimits& limits);

}  // namespace kandinsky
