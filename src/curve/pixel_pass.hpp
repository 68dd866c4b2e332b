#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

#include "curve/build_curve.hpp"
#include "score/census.hpp"

namespace kandinsky {

/// What to take from every pixel's own scores.
struct PixelPassRequest {
    Condition condition = Condition::by_class;
    ScoreOptions score;
    std::vector<double> quantiles;  ///< features: the curve at these levels; none when empty
    bool curves = false;            ///< the curves themselves
    CurveRule rule;                 ///< for the curves
};

struct PixelPassResult {
    std::vector<float> features;   ///< [stratum][pixel][quantile]; 0 at pixels without data
    std::vector<CurveSet> curves;  ///< one set per stratum, one curve per pixel
};

/// Exact per-pixel order statistics in one walk over the data, tile by tile: each tile gathers and sorts the
/// scores of a few hundred pixels. Memory: about 8 bytes x images x tile x threads.
[[nodiscard]] PixelPassResult pixel_pass(const Dataset& data, const Census& census,
                                         const PixelPassRequest& request, Progress& progress);

}  // namespace kandinsky
