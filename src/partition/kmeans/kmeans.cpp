#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "partition/kmeans/lloyd.hpp"
#include "partition/typed_options.hpp"

namespace kandinsky::partition::kmeans {

extern const Method kMethod;
using Type = MethodOption::Type;

namespace {
/// The pixels that have data, and their features [pixel][feature].
struct Gathered {
    std::vector<std::size_t> pixels;
    std::vector<float> rows;
};

/// The features of a calibration are finite. In direct calls +inf counts as the largest finite value of that
/// feature (0 if there is none), because the pixel may be as hard as the hardest. NaN and -inf are refused.
Gathered gather(const PartitionInput& input) {
    const std::size_t width = input.feature_count;
    Gathered data;
    std::vector<float> largest(width, -std::numeric_limits<float>::infinity());
    bool infinite = false;
    for (std::size_t p = 0; p < input.grid.pixels(); ++p) {
        if (input.counts[p] == 0) continue;
        data.pixels.push_back(p);
        for (std::size_t j = 0; j < width; ++j) {
            const float value = input.features[p * width + j];
            if (std::isnan(value) || value == -std::numeric_limits<float>::infinity())
                fail(ErrorKind::data,
                     "method 'kmeans' got {} as feature {} of class {} at row {}, column {}; scores must be "
                     "numbers",
                     value, j, input.stratum, p / input.grid.width, p % input.grid.width);
            if (std::isinf(value))
                infinite = true;
            else
                largest[j] = std::max(largest[j], value);
            data.rows.push_back(value);
        }
    }
    for (std::size_t at = 0; infinite && at < data.rows.size(); ++at)
        if (std::isinf(data.rows[at]))
            data.rows[at] = std::isinf(largest[at % width]) ? 0.0f : largest[at % width];
    return data;
}

std::string describe(const Clustering& found, std::size_t dimension) {
    std::string centres;
    for (std::size_t c = 0; c < found.clusters; ++c) {
        const double* centre = found.centres.data() + c * dimension;
        centres += fmt::format("{}[{}]", c == 0 ? "" : ", ", fmt::join(centre, centre + dimension, ", "));
    }
    return fmt::format(
        R"({{"kind": "kmeans", "clusters": {}, "inertia": {}, "iterations": {}, "restarts": {}, )"
        R"("centres": [{}]}})",
        found.clusters, found.inertia, found.iterations, found.restarts.size(), centres);
}

Partition fit(const PartitionInput& input) {
    ClusterOptions options;
    options.clusters = static_cast<std::size_t>(integer_option(kMethod, input, "kmeans-clusters", 1, 4096));
    options.restarts = static_cast<std::size_t>(integer_option(kMethod, input, "kmeans-restarts", 1, 1000));
    // In cross-validation the last percent of inertia does not matter.
    if (input.quick) {
        options.restarts = std::min<std::size_t>(options.restarts, 2);
        options.max_iterations = 20;
    }
    options.seed = input.seed;
    const std::size_t pixels = input.grid.pixels();
    if (input.feature_count == 0 || input.features.size() != pixels * input.feature_count ||
        input.counts.size() != pixels)
        fail(ErrorKind::internal,
             "[kmeans] {} features and {} counts do not fit {} pixels with {} features each",
             input.features.size(), input.counts.size(), pixels, input.feature_count);

    const Gathered data = gather(input);
    const Clustering found = cluster(data.rows, input.feature_count, options,
                                     input.progress == nullptr ? silent() : *input.progress);
    Partition partition;
    partition.regions = std::max(1u, static_cast<std::uint32_t>(found.clusters));
    partition.region.assign(pixels, 0);
    for (std::size_t i = 0; i < data.pixels.size(); ++i)
        partition.region[data.pixels[i]] = found.assignment[i];
    partition.geometry = describe(found, input.feature_count);
    extend_to_empty_pixels(input.grid, input.counts, partition);
    return partition;
}
}  // namespace

const Method kMethod{
    .name = "kmeans",
    .summary =
        "regions of pixels with similar score distributions, wherever they lie: k-means on their curves",
    .uses_features = true,
    .uses_labels = true,
    .options = {{"kmeans-clusters",
                 Type::integer,
                 "auto",
                 "number of regions of method kmeans, 1 to 4096, or 'auto': 4, 16 or 64 by cross-validation "
                 "(the paper: 4)",
                 {"4", "16", "64"},
                 "4"},
                {"kmeans-restarts", Type::integer, "10",
                 "number of independent starts of method kmeans, 1 to 1000; the best result is kept"}},
    .fit = fit,
    .order = 2,
};

}  // namespace kandinsky::partition::kmeans

namespace kandinsky {

OptionWords words_of(const KmeansOptions& options) {
    return {{"kmeans-clusters", word_or_auto(options.clusters)}, {"kmeans-restarts", word(options.restarts)}};
}

MethodChoice::MethodChoice(const KmeansOptions& options)
    : MethodChoice(choice_of(partition::kmeans::kMethod, options)) {}

}  // namespace kandinsky
