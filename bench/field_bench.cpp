// The smoothed score distributions of one class: the whole method at typical sizes, and its two kernels. The
// column Time is wall time; CPU is the processor time of all threads together, which a busy machine affects
// less. Limits on two cores (bar_ms): 5 s of wall time for 320 x 240 pixels and 100 images, 10 s for
// 160 x 120 and 3843 images.
#include <benchmark/benchmark.h>

#include <kandinsky/scenes.hpp>
#include <map>
#include <vector>

#include "partition/kernels.hpp"
#include "partition/smooth.hpp"
#include "partition/soft_method.hpp"

namespace {

using namespace kandinsky;

/// Images of the demo's photo scenes, made once.
const Dataset& scenes(std::uint32_t height, std::uint32_t width, std::size_t images) {
    static std::map<std::size_t, Dataset> made;
    const auto found = made.find(height * images);
    if (found != made.end()) return found->second;
    const Scenes fresh =
        make_scenes({.preset = "photo", .images = images, .seed = 1, .grid = {height, width}});
    return made.emplace(height * images, Dataset(fresh.probs, fresh.labels, fresh.groups)).first->second;
}

void field_one_class(benchmark::State& state) {
    const auto height = static_cast<std::uint32_t>(state.range(0)), width = height / 3 * 4;
    const auto images = static_cast<std::size_t>(state.range(1));
    const Dataset& data = scenes(height, width, images);
    const Census census = take_census(data, Condition::by_class, silent());
    const MethodSettings settings;
    for (auto _ : state)
        benchmark::DoNotOptimize(
            method("field").fit_curves({.data = data,
                                        .census = census,
                                        .score = {},
                                        .strata = {1},
                                        .pooling = state.range(2) != 0 ? Pooling::groups : Pooling::pixels,
                                        .ladder = Ladder::uniform(200),
                                        .settings = &settings,
                                        .progress = silent()}));
    state.counters["bar_ms"] = height == 240 ? 5000 : images == 3843 ? 10000 : 0;
}
BENCHMARK(field_one_class)
    ->ArgNames({"height", "images", "groups"})
    ->Args({120, 100, 0})
    ->Args({240, 100, 0})
    ->Args({240, 100, 1})
    ->Args({120, 3843, 0})
    ->Args({120, 3843, 1})
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void smooth_240x320(benchmark::State& state) {
    partition::Plane plane({240, 320}, 128);
    for (std::size_t i = 0; i < plane.values.size(); ++i) plane.values[i] = static_cast<float>(i % 128) / 128;
    const auto bandwidth = static_cast<double>(state.range(0));
    partition::Pyramid pyramid(plane);
    for (auto _ : state) benchmark::DoNotOptimize(partition::Smooth(pyramid, bandwidth));
    state.SetBytesProcessed(
        static_cast<std::int64_t>(state.iterations() * plane.values.size() * sizeof(float)));
}
BENCHMARK(smooth_240x320)->Arg(2)->Arg(4)->Arg(8)->Arg(32)->Unit(benchmark::kMillisecond)->UseRealTime();

void error_products(benchmark::State& state) {
    constexpr std::size_t kRows = 27, kLength = 16 * 128;
    const std::vector<float> left(kRows * kLength, 0.5f), right(kRows * kLength, 0.25f);
    std::vector<double> sums(kRows * kRows);
    for (auto _ : state) {
        partition::add_products(left.data(), right.data(), kRows, kLength, sums.data());
        benchmark::DoNotOptimize(sums.data());
    }
    state.SetItemsProcessed(
        static_cast<std::int64_t>(state.iterations() * kRows * (kRows + 1) / 2 * kLength));
}
BENCHMARK(error_products)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
