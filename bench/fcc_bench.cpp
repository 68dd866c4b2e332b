// Fourier concentric clustering on 320 x 240 with four features: a whole fit and one evaluation with
// gradient. `fcc_bench --geometry` prints the geometry of the scene in docs/figures instead of measuring.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <kandinsky/threads.hpp>
#include "partition/fourier_curves.hpp"
#include "partition/method.hpp"

#include "core/base/random.hpp"
#include "partition/fcc/objective.hpp"

namespace {
using namespace kandinsky;

constexpr Grid kGrid{240, 320};
constexpr std::size_t kFeatures = 4;

/// Scores that rise from a star-shaped core to the border in smooth steps, with the noise of few images.
std::vector<float> scene(double noise) {
    Random random(1);
    std::vector<float> features(kGrid.pixels() * kFeatures);
    for (std::size_t p = 0; p < kGrid.pixels(); ++p) {
        const double x = static_cast<double>(p % kGrid.width) - 0.5 * (kGrid.width - 1);
        const double y = static_cast<double>(p / kGrid.width) - 0.5 * (kGrid.height - 1);
        const double theta = std::atan2(y, x);
        const double size = std::hypot(x, y) / (1 + 0.25 * std::cos(3 * theta) + 0.1 * std::sin(2 * theta));
        double level = 0.1;
        for (const double edge : {35.0, 65.0, 95.0}) level += 0.2 / (1 + std::exp(-(size - edge) / 3));
        for (std::size_t f = 0; f < kFeatures; ++f)
            features[p * kFeatures + f] =
                static_cast<float>(level * (1 + 0.1 * static_cast<double>(f)) + noise * random.normal());
    }
    return features;
}

const std::vector<std::uint32_t> kCounts(kGrid.pixels(), 100);

void fit_320x240(benchmark::State& state) {
    const std::vector<float> features = scene(0.05);
    const ThreadLimit limit(static_cast<std::size_t>(state.range(0)));
    FourierOptions options;
    options.variance = state.range(1) == 0 ? FourierVariance::mean : FourierVariance::area;
    options.centre = state.range(2) == 0 ? FourierCentre::middle : FourierCentre::free;
    FourierFit fit;
    for (auto _ : state) fit = fit_fourier_curves({kGrid, kFeatures, features, kCounts}, options, 1);
    std::uint32_t evaluations = 0;
    for (const FourierStart& start : fit.starts) evaluations += start.evaluations;
    state.counters["evaluations"] = evaluations;
    state.counters["objective"] = fit.objective.total;
    // The method's limit: one second for a fit with all its starts.
    state.counters["fits_per_s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(fit_320x240)
    ->ArgNames({"threads", "area", "free"})
    ->Args({2, 0, 0})
    ->Args({1, 0, 0})
    ->Args({2, 1, 0})
    ->Args({2, 0, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void evaluate_objective_and_gradient(benchmark::State& state) {
    const std::vector<float> features = scene(0.05);
    FourierOptions options;
    options.angles = static_cast<std::uint32_t>(state.range(0));
    options.nodes = static_cast<std::uint32_t>(state.range(1));
    const partition::fcc::BilinearField field({kGrid, kFeatures, features, kCounts});
    const partition::fcc::CurveObjective objective(field, options);
    std::vector<double> at(objective.unknowns(), 0.01), gradient(at.size());
    for (std::size_t l = 0; l < options.curves; ++l)
        at[l * objective.terms()] = 0.4 + 0.2 * static_cast<double>(l);
    auto workspace = objective.workspace();
    for (auto _ : state) benchmark::DoNotOptimize(objective.value_and_gradient(at, gradient, workspace));
}
BENCHMARK(evaluate_objective_and_gradient)
    ->ArgNames({"angles", "nodes"})
    ->Args({96, 12})
    ->Args({192, 24})
    ->Unit(benchmark::kMicrosecond);

void print_geometry() {
    const std::vector<float> features = scene(0.05);
    MethodSettings settings;
    settings.text["fcc-variance"] = "area";
    settings.text["fcc-penalty"] = "1e-4";
    PartitionInput input{.grid = kGrid,
                         .feature_count = kFeatures,
                         .features = features,
                         .counts = kCounts,
                         .seed = 1,
                         .settings = &settings,
                         .progress = &silent()};
    fmt::print("{}\n", method("fcc").fit(input).geometry);
}
}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--geometry") == 0) {
        print_geometry();
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
