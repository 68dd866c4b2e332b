// k-means of a 320 x 240 map of curve values. Compares restarts on a sample, of which the best continue on
// all pixels (as in the method), with restarts on all pixels; prints the time of the latter and the ratio of
// the inertias.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/base/random.hpp"
#include "partition/kmeans/lloyd.hpp"
#include "partition/kmeans/nearest_reference.hpp"

namespace {

using namespace kandinsky;
using namespace kandinsky::partition;

constexpr std::size_t kHeight = 240, kWidth = 320, kFeatures = 4;

/// Curve values like those of pixels near an off-centre object: rising with the distance, ordered within a
/// pixel, with the sampling noise of about 100 images.
std::vector<float> curve_map() {
    std::vector<float> rows;
    Random random(20231120);
    for (std::size_t y = 0; y < kHeight; ++y) {
        for (std::size_t x = 0; x < kWidth; ++x) {
            const double u = (static_cast<double>(x) - 140.0) / 160.0,
                         v = (static_cast<double>(y) - 130.0) / 120.0;
            const double hardness = 1.0 / (1.0 + std::exp(-6.0 * (std::hypot(u, v) - 0.6)));
            double values[kFeatures];
            for (std::size_t j = 0; j < kFeatures; ++j) {
                const double quantile = 0.6 + 0.1 * static_cast<double>(j);
                values[j] = std::clamp(hardness * std::pow(quantile, 2.0) + 0.05 * random.normal(), 0.0, 1.0);
            }
            std::sort(values, values + kFeatures);
            for (const double value : values) rows.push_back(static_cast<float>(value));
        }
    }
    return rows;
}

void kmeans_320x240(benchmark::State& state) {
    const std::vector<float> rows = curve_map();
    const kmeans::ClusterOptions sampled{.clusters = static_cast<std::size_t>(state.range(0)), .seed = 1};
    kmeans::Clustering found;
    for (auto _ : state) benchmark::DoNotOptimize(found = kmeans::cluster(rows, kFeatures, sampled));

    kmeans::ClusterOptions full = sampled;
    full.sample = 0;
    const auto begin = std::chrono::steady_clock::now();
    const kmeans::Clustering reference = kmeans::cluster(rows, kFeatures, full);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    state.counters["iterations"] = static_cast<double>(found.iterations);
    state.counters["full_restarts_ms"] = time.count();
    state.counters["inertia_over_full"] = found.inertia / reference.inertia;
}
BENCHMARK(kmeans_320x240)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

void assign_nearest_320x240(benchmark::State& state) {
    const kmeans::Points points(curve_map(), kFeatures);
    std::vector<double> centres;
    for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t j = 0; j < kFeatures; ++j) centres.push_back(0.1 + 0.2 * static_cast<double>(c));
    std::vector<std::uint32_t> labels(points.stride(), kmeans::kUnassigned);
    std::vector<kmeans::Move> moves(points.stride());
    std::vector<double> slack(points.stride());
    const bool reference = state.range(0) != 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(
            reference ? kmeans::assign_nearest_reference(points, centres, 0, points.size(), labels.data(),
                                                         moves.data())
                      : kmeans::assign_nearest(points, centres, 0, points.size(), labels.data(), moves.data(),
                                               slack.data(), 1e9));
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * points.size()));
}
BENCHMARK(assign_nearest_320x240)->ArgName("reference")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
