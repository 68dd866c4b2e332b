#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

#include "curve/build_curve.hpp"
#include "score/census.hpp"

namespace kandinsky {

class PixelRows;

/// The results to compute from the scores of each pixel.
struct PixelPassRequest {
    Condition condition = Condition::by_class;
    ScoreOptions score{};
    std::vector<double> quantiles;  ///< features: the curve at these levels; none when empty
    bool curves = false;            ///< the curves themselves
    CurveRule rule{};               ///< for the curves
    std::size_t budget =
        std::size_t{1}
        << 29;  ///< bytes of scores held at a time; the scores of a few neighbouring pixels are always held
    PixelRows* gathered = nullptr;  ///< scores of all pixels that a census has gathered already
};

struct PixelPassResult {
    std::vector<float> features;   ///< [stratum][pixel][quantile]; 0 at pixels without data
    std::vector<CurveSet> curves;  ///< one set per stratum, one curve per pixel
};

/// Exact order statistics of every pixel. Gathers and sorts the scores of as many pixels as the budget allows
/// and reads the data again for the others. The budget has no effect on the result. A score takes 8 bytes;
/// lac takes 2 if there are up to three strata and probabilities are halves or bytes, 4 if only one of these
/// conditions holds.
[[nodiscard]] PixelPassResult pixel_pass(const Dataset& data, const Census& census,
                                         const PixelPassRequest& request, Progress& progress);

}  // namespace kandinsky
