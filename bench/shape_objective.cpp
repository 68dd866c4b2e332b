// Compares the FCC objective of FCC's curves with that of GenAnn's annuli.
//
//   shape_objective PROBS.npy LABELS.npy CLASS [IMAGES]
//
// Prints, for the curves of one class (the first IMAGES images; default all), the paper's objective (sum of
// variances plus nesting penalty, both from the same quadrature) and the plain sum of the regions' variances
// over pixels.
#include <fmt/format.h>

#include <cstdlib>
#include <kandinsky/dataset.hpp>
#include <kandinsky/error.hpp>
#include <kandinsky/npy.hpp>
#include <numeric>
#include "partition/annuli.hpp"
#include "partition/fourier_curves.hpp"

#include "curve/pixel_pass.hpp"
#include "partition/fcc/polar_objective.hpp"
#include "score/census.hpp"

namespace {
using namespace kandinsky;
using namespace kandinsky::partition::fcc;

void run(const std::string& probs, const std::string& labels, std::size_t cls, std::size_t images) {
    Dataset data(read_npy(probs), read_npy(labels), {});
    if (images > 0) {
        std::vector<std::uint32_t> first(images);
        std::iota(first.begin(), first.end(), 0u);
        data = data.subset(first);
    }
    const Census census = take_census(data, Condition::by_class, silent());
    PixelPassRequest request;
    request.quantiles = {0.6, 0.7, 0.8, 0.9};
    const PixelPassResult pixels = pixel_pass(data, census, request, silent());
    const std::size_t n = data.grid().pixels(), values = request.quantiles.size();
    const std::span<const float> features = std::span(pixels.features).subspan(cls * n * values, n * values);
    const std::span<const std::uint32_t> counts = std::span(census.counts).subspan(cls * n, n);

    const AnnuliFit annuli =
        fit_annuli({.grid = data.grid(), .values = values, .points = features, .counts = counts}, {});
    const FourierField field{data.grid(), values, features, counts};
    for (const FourierVariance variance : {FourierVariance::mean, FourierVariance::area}) {
        FourierOptions options;
        options.variance = variance;
        if (variance == FourierVariance::area) options.penalty = 1e-4;
        const FourierFit fit = fit_fourier_curves(field, options, 0, silent());
        const double middle_column = (data.grid().width - 1) / 2.0,
                     middle_row = (data.grid().height - 1) / 2.0;
        const FourierObjective own = fourier_objective(field, options, fit.curves);
        const FourierObjective theirs =
            polar_objective(field, options,
                            polar_circles(middle_column, middle_row, middle_column + annuli.annuli.cx,
                                          middle_row - annuli.annuli.cy, annuli.annuli.radii));
        fmt::print(
            "{:<5} objective: fcc {:.5f}, annuli {:.5f} ({:+.1f} %)   variance over pixels: fcc {:.5f}, "
            "annuli {:.5f}\n",
            variance == FourierVariance::mean ? "mean" : "area", own.total, theirs.total,
            100 * (own.total / theirs.total - 1),
            region_variance(field, fourier_bands(fit.curves, data.grid()), variance),
            region_variance(field, annuli_mask(data.grid(), annuli.annuli), variance));
    }
}
}  // namespace

int main(int argc, char** argv) try {
    if (argc < 4) {
        fmt::print(stderr, "usage: shape_objective PROBS.npy LABELS.npy CLASS [IMAGES]\n");
        return 2;
    }
    run(argv[1], argv[2], std::strtoul(argv[3], nullptr, 10),
        argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0);
} catch (const kandinsky::Error& error) {
    fmt::print(stderr, "shape_objective: {}\n", error.what());
    return static_cast<int>(error.kind());
}
