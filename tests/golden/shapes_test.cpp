#include <gtest/gtest.h>

#include "partition/annuli.hpp"
#include "partition/fourier_curves.hpp"

#include "curve/pixel_pass.hpp"
#include "golden/golden.hpp"
#include "partition/fcc/polar_objective.hpp"
#include "score/census.hpp"

/// The two shape priors against each other on the golden inputs, in the objective of the Fourier curves.
namespace kandinsky {
namespace {

using namespace partition::fcc;

TEST(Shapes, FourierCurvesAreNoWorseThanAnnuliInTheirOwnObjective) {
    // The class with complete images: 1 in the set binary, 0 in the full set multi.
    std::size_t compared = 0;
    for (const test::Golden& golden : test::golden_sets()) {
        const std::size_t cls = golden.classes() == 2 ? 1 : 0;
        if (!golden.expected().contains("ce_kmeans" + golden.suffix(cls))) continue;
        if (cls == 1 && golden.has("pixel_curves")) continue;  // the trimmed set has the same images
        const Dataset data = golden.calibration();
        const Census census = take_census(data, Condition::by_class, silent());
        PixelPassRequest request;
        request.quantiles = {0.6, 0.7, 0.8, 0.9};
        const PixelPassResult pixels = pixel_pass(data, census, request, silent());
        const std::size_t n = data.grid().pixels();
        const auto features = std::span(pixels.features).subspan(cls * n * 4, n * 4);
        const auto counts = std::span(census.counts).subspan(cls * n, n);
        const AnnuliFit annuli =
            fit_annuli({.grid = data.grid(), .values = 4, .points = features, .counts = counts}, {});
        const FourierField field{data.grid(), 4, features, counts};
        const double column = (data.grid().width - 1) / 2.0, row = (data.grid().height - 1) / 2.0;
        const PolarCurves circles = polar_circles(column, row, column + annuli.annuli.cx,
                                                  row - annuli.annuli.cy, annuli.annuli.radii);
        for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
            FourierOptions options;
            options.variance = variance;
            if (variance == FourierVariance::area) options.penalty = 1e-4;  // smaller variances
            const FourierFit fit = fit_fourier_curves(field, options, 0, silent());
            EXPECT_LE(fit.objective.total, polar_objective(field, options, circles).total) << golden.name();
            EXPECT_LE(region_variance(field, fourier_bands(fit.curves, data.grid()), variance),
                      region_variance(field, annuli_mask(data.grid(), annuli.annuli), variance))
                << golden.name();
        }
        ++compared;
    }
    EXPECT_GT(compared, 0u);
}

}  // namespace
}  // namespace kandinsky
