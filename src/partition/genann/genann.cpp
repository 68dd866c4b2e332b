#include <algorithm>
#include <nlohmann/json.hpp>
#include "partition/annuli.hpp"
#include "partition/typed_options.hpp"

#include "core/base/fail.hpp"
#include "partition/genann/spans.hpp"

namespace kandinsky::partition::genann {

extern const Method kMethod;
using Type = MethodOption::Type;
using Trials = std::vector<std::string>;

namespace {
AnnuliOptions options_of(const PartitionInput& input, std::string_view shape, std::string_view metric) {
    AnnuliOptions options;
    options.shape = shape == "ellipse" ? AnnuliShape::ellipse : AnnuliShape::circle;
    options.metric = metric == "sqeuclidean" ? AnnuliMetric::sqeuclidean
                     : metric == "manhattan" ? AnnuliMetric::manhattan
                                             : AnnuliMetric::euclidean;
    options.rule = input.released ? AnnuliRule::released : AnnuliRule::consistent;
    options.radii = static_cast<std::size_t>(integer_option(kMethod, input, "genann-radii", 1, 16));
    options.bounds = annuli_bounds(
        text_option(kMethod, input, "genann-bounds", {"auto", "coco", "decathlon"}), input.grid);
    const std::int64_t population = integer_option(kMethod, input, "genann-population", 0, 10000);
    if (population > 0 && population < 4)
        fail(ErrorKind::usage, "`genann_population` is {}, but must be 0 (automatic) or at least 4",
             population);
    options.population = static_cast<std::size_t>(population);
    options.generations =
        static_cast<std::size_t>(integer_option(kMethod, input, "genann-generations", 0, 1000000));
    // 40 generations are enough to compare numbers of radii: the cross-validated losses differ by less than
    // 1.5 % from those after 100. Squared distances need only sums, not the distance of every pair.
    if (input.quick) {
        options.generations = std::min<std::size_t>(options.generations, 40);
        if (options.metric == AnnuliMetric::euclidean) options.metric = AnnuliMetric::sqeuclidean;
    }
    options.seed = input.seed;
    options.team = input.team;
    return options;
}

/// Reduces a long log to 60 to 120 lines: the first, the last and lines at equal distances between.
nlohmann::ordered_json thinned(const std::vector<AnnuliGeneration>& log) {
    const std::size_t step = std::max<std::size_t>(1, log.size() / 60);
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < log.size(); ++k)
        if (k % step == 0 || k + 1 == log.size())
            lines.push_back({log[k].generation, log[k].best, log[k].mean, log[k].spread});
    return lines;
}

Partition fit(const PartitionInput& input) {
    const std::string shape = text_option(kMethod, input, "genann-shape", {"circle", "ellipse"});
    const std::string metric =
        text_option(kMethod, input, "genann-metric", {"euclidean", "sqeuclidean", "manhattan"});
    const std::string weights = text_option(kMethod, input, "genann-weights", {"none", "counts"});
    const AnnuliOptions options = options_of(input, shape, metric);
    const AnnuliPoints points{.grid = input.grid,
                              .values = input.feature_count,
                              .points = input.features,
                              .counts = input.counts,
                              .weights = weights == "counts" ? AnnuliWeights::counts : AnnuliWeights::none};
    const AnnuliFit found =
        fit_annuli(points, options, input.progress != nullptr ? *input.progress : silent());

    Partition partition;
    partition.region = annuli_mask(input.grid, found.annuli, options.rule);
    // In the released rule a pixel exactly on the centre has its own label, which is a region if such a pixel
    // exists.
    const bool centre_pixel = input.released && std::find(partition.region.begin(), partition.region.end(),
                                                          0u) != partition.region.end();
    if (input.released && !centre_pixel)
        for (std::uint32_t& region : partition.region) --region;
    partition.regions = static_cast<std::uint32_t>(options.radii) + 1 + (centre_pixel ? 1 : 0);
    const std::uint32_t rings = partition.regions;
    join_empty_rings(input.counts, partition);

    const Origin origin = origin_of(input.grid, options.rule);
    const Annuli& annuli = found.annuli;
    const nlohmann::ordered_json geometry{
        {"kind", "annuli"},
        {"shape", shape},
        {"centre", {annuli.cx, annuli.cy}},
        {"centre_px", {origin.x0 + annuli.cx, origin.y0 - annuli.cy}},
        {"radii", annuli.radii},
        {"axis_ratio", annuli.axis_ratio},
        {"angle", annuli.angle},
        {"metric", metric},
        {"weights", weights},
        {"rule", input.released ? "released" : "consistent"},
        {"fitness", found.fitness},
        {"searched_by", found.surrogate ? "codebook" : "exact"},
        {"bounds",
         {{"centre", {found.bounds.centre_x, found.bounds.centre_y}},
          {"radii", {found.bounds.inner, found.bounds.outer}},
          {"axis_ratio", found.bounds.axis_ratio}}},
        {"generations", found.generations},
        {"evaluations", found.evaluations},
        {"refinements", found.refinements},
        {"stopped", found.stopped},
        {"merged", rings - partition.regions},
        {"log", thinned(found.log)},
    };
    partition.geometry = geometry.dump();
    return partition;
}
}  // namespace

const Method kMethod{
    .name = "genann",
    .summary = "genetic annuli: concentric circles or ellipses around pixels with similar curves",
    .uses_features = true,
    .uses_labels = true,
    .options =
        {{"genann-shape", Type::text, "ellipse",
          "shape of the rings: ellipse (one axis ratio and angle for all) or circle (the paper)", Trials(),
          "circle"},
         {"genann-radii",
          Type::integer,
          "auto",
          "number of radii, 1 to 16, which bound one more region; or 'auto': 3, 6 or 12 by cross-validation "
          "(the paper: 3)",
          {"3", "6", "12"},
          "3"},
         {"genann-metric", Type::text, "euclidean",
          "distance between curves: euclidean, sqeuclidean or manhattan"},
         {"genann-bounds", Type::text, "auto",
          "bounds of the search: auto (by the size of the grid), coco or decathlon (the paper's, in pixels)"},
         {"genann-population", Type::integer, "0",
          "size of the population (0: 6 per parameter, at least 60)"},
         {"genann-generations", Type::integer, "400", "maximum number of generations"},
         {"genann-weights", Type::text, "none",
          "weights of pixels: none (all equal) or counts (number of scores)"}},
    .fit = fit,
    .order = 3,
};

}  // namespace kandinsky::partition::genann

namespace kandinsky {

OptionWords words_of(const GenannOptions& options) {
    using Metric = GenannOptions::Metric;
    using Bounds = GenannOptions::Bounds;
    return {{"genann-shape", options.shape == GenannOptions::Shape::ellipse ? "ellipse" : "circle"},
            {"genann-radii", word_or_auto(options.radii)},
            {"genann-metric", options.metric == Metric::euclidean     ? "euclidean"
                              : options.metric == Metric::sqeuclidean ? "sqeuclidean"
                                                                      : "manhattan"},
            {"genann-bounds", options.bounds == Bounds::automatic ? "auto"
                              : options.bounds == Bounds::coco    ? "coco"
                                                                  : "decathlon"},
            {"genann-population", word(options.population)},
            {"genann-generations", word(options.generations)},
            {"genann-weights", options.weights == GenannOptions::Weights::none ? "none" : "counts"}};
}

MethodChoice::MethodChoice(const GenannOptions& options)
    : MethodChoice(choice_of(partition::genann::kMethod, options)) {}

}  // namespace kandinsky
