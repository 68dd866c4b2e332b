#include <algorithm>
#include <nlohmann/json.hpp>
#include "partition/fourier_curves.hpp"
#include "partition/typed_options.hpp"

namespace kandinsky::partition::fcc {

extern const Method kMethod;
using Type = MethodOption::Type;
using Trials = std::vector<std::string>;

namespace {
FourierOptions read_options(const PartitionInput& input) {
    const auto integer = [&](const char* flag, std::int64_t low, std::int64_t high) {
        return static_cast<std::uint32_t>(integer_option(kMethod, input, flag, low, high));
    };
    FourierOptions options;
    options.curves = integer("fcc-curves", 1, 16);
    options.order = integer("fcc-order", 1, 32);
    options.limit = text_option(kMethod, input, "fcc-limit", {"rectangle", "circle"}) == "circle"
                        ? FourierLimit::circle
                        : FourierLimit::rectangle;
    options.centre = text_option(kMethod, input, "fcc-centre", {"middle", "free"}) == "free"
                         ? FourierCentre::free
                         : FourierCentre::middle;
    options.variance = text_option(kMethod, input, "fcc-variance", {"mean", "area"}) == "area"
                           ? FourierVariance::area
                           : FourierVariance::mean;
    // Weighted by area, the variances are about m + 1 times smaller.
    options.penalty = text_option(kMethod, input, "fcc-penalty") != "auto"
                          ? real_option(kMethod, input, "fcc-penalty", 0.0, 1e6)
                      : options.variance == FourierVariance::area ? 1e-4
                                                                  : 1e-3;
    options.angles = integer("fcc-angles", 8, 4096);
    options.nodes = integer("fcc-nodes", 1, 128);
    options.starts = integer("fcc-starts", 1, 1000);
    options.iterations = integer("fcc-iterations", 0, 1000000);
    if (input.quick) {
        // The first start is already the best of many shapes, and 20 steps are enough to compare numbers of
        // curves.
        options.starts = 1;
        options.iterations = std::min<decltype(options.iterations)>(options.iterations, 20);
        options.angles = std::min<decltype(options.angles)>(options.angles, 48);
        options.nodes = std::min<decltype(options.nodes)>(options.nodes, 6);
    }
    return options;
}

Partition fit(const PartitionInput& input) {
    const FourierOptions options = read_options(input);
    const FourierField field{input.grid, input.feature_count, input.features, input.counts};
    const FourierFit found = fit_fourier_curves(field, options, input.seed,
                                                input.progress == nullptr ? silent() : *input.progress);
    Partition partition;
    partition.region = fourier_bands(found.curves, input.grid);
    partition.regions = static_cast<std::uint32_t>(found.curves.coefficients.size()) + 1;
    const std::vector<std::uint32_t> region_of_band = join_empty_rings(input.counts, partition);

    nlohmann::ordered_json geometry;
    geometry["kind"] = "fourier";
    geometry["centre_px"] = {found.curves.centre_column, found.curves.centre_row};
    geometry["limit"] = options.limit == FourierLimit::circle ? "circle" : "rectangle";
    geometry["centre"] = options.centre == FourierCentre::free ? "free" : "middle";
    geometry["variance_kind"] = options.variance == FourierVariance::area ? "area" : "mean";
    geometry["order"] = found.curves.order;
    geometry["scale"] = found.curves.scale;
    geometry["convention"] =
        "r(theta) = scale * (a0 + 2 * sum_k (re_k cos(k theta) - im_k sin(k theta)))^2 in pixels; "
        "column = centre_px[0] + r cos(theta), row = centre_px[1] + r sin(theta)";
    geometry["coefficients"] = found.curves.coefficients;
    geometry["objective"] = found.objective.total;
    geometry["variance"] = found.objective.variance;
    geometry["penalty"] = found.objective.penalty;
    geometry["floor"] = found.objective.floor;
    geometry["start_objective"] = found.starts.empty() ? 0.0 : found.starts[found.best].start_objective;
    geometry["iterations"] = found.starts.empty() ? 0u : found.starts[found.best].iterations;
    geometry["merged"] = options.curves + 1 - partition.regions;
    geometry["region_of_band"] = region_of_band;
    geometry["best_start"] = found.best;
    geometry["starts"] = nlohmann::ordered_json::array();
    for (const FourierStart& start : found.starts)
        geometry["starts"].push_back({{"origin", start.origin},
                                      {"start_objective", start.start_objective},
                                      {"objective", start.objective},
                                      {"iterations", start.iterations},
                                      {"evaluations", start.evaluations},
                                      {"stop", start.stop}});
    partition.geometry = geometry.dump();
    return partition;
}
}  // namespace

const Method kMethod{
    .name = "fcc",
    .summary = "rings between nested smooth curves about a centre (Fourier concentric clustering)",
    .uses_features = true,
    .uses_labels = true,
    .options =
        {{"fcc-curves",
          Type::integer,
          "auto",
          "number of curves, 1 to 16, which bound one more region; or 'auto': 3, 6 or 12 by cross-validation "
          "(the paper: 3)",
          {"3", "6", "12"},
          "3"},
         {"fcc-order", Type::integer, "8", "order K of the curves' Fourier series (1 to 32)"},
         {"fcc-limit", Type::text, "rectangle",
          "limit of the outermost curve: rectangle (the image) or circle (the paper)", Trials(), "circle"},
         {"fcc-centre", Type::text, "free",
          "centre of the curves: free (optimised) or middle of the image (the paper)", Trials(), "middle"},
         {"fcc-variance", Type::text, "area",
          "weights of the regions' variances: area (share of the image) or mean (all equal, the paper)",
          Trials(), "mean"},
         {"fcc-penalty", Type::real, "auto",
          "weight w of the nesting penalty; auto: 1e-4 with area, 1e-3 with mean", Trials(), "1e-3"},
         {"fcc-angles", Type::integer, "96", "number K_I of quadrature angles; at least 4 K are used"},
         {"fcc-nodes", Type::integer, "12", "number K_G of Gauss-Legendre nodes per ray and region"},
         {"fcc-starts", Type::integer, "4", "number of starts; the best result is kept"},
         {"fcc-iterations", Type::integer, "150",
          "maximum number of BFGS iterations per start and level of blur"}},
    .fit = fit,
    .order = 4,
};

}  // namespace kandinsky::partition::fcc

namespace kandinsky {

OptionWords words_of(const FccOptions& options) {
    return {{"fcc-curves", word_or_auto(options.curves)},
            {"fcc-order", word(options.order)},
            {"fcc-limit", options.limit == FccOptions::Limit::rectangle ? "rectangle" : "circle"},
            {"fcc-centre", options.centre == FccOptions::Centre::free ? "free" : "middle"},
            {"fcc-variance", options.variance == FccOptions::Variance::area ? "area" : "mean"},
            {"fcc-penalty", word_or_auto(options.penalty)},
            {"fcc-angles", word(options.angles)},
            {"fcc-nodes", word(options.nodes)},
            {"fcc-starts", word(options.starts)},
            {"fcc-iterations", word(options.iterations)}};
}

MethodChoice::MethodChoice(const FccOptions& options)
    : MethodChoice(choice_of(partition::fcc::kMethod, options)) {}

}  // namespace kandinsky
