// Annuli at 320 x 240 on synthetic curves: one exact evaluation, one evaluation of the code book, and whole
// fits with ten seeds, with their exact fitness and its distance from the best known for that input.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <kandinsky/threads.hpp>
#include <vector>
#include "partition/annuli.hpp"

#include "core/base/random.hpp"
#include "partition/genann/codebook.hpp"

namespace {
using namespace kandinsky;
using namespace kandinsky::partition::genann;

struct Curves {
    Grid grid{240, 320};
    std::vector<float> values;
    std::vector<std::uint32_t> counts;

    /// Errors grow with the distance from a centre near the middle. The noise is that of few images: a shift
    /// of each pixel's curve, larger at upper quantiles, and independent noise at every quantile.
    explicit Curves(double noise) : values(grid.pixels() * 4), counts(grid.pixels(), 100) {
        for (std::size_t p = 0; p < grid.pixels(); ++p) {
            Random random(11, p);
            const double x = static_cast<double>(p % grid.width) - 159.5 - 14;
            const double y = 119.5 - static_cast<double>(p / grid.width) + 9;
            const double r = std::sqrt(x * x + 1.3 * y * y);
            const double level =
                0.15 + 0.55 / (1 + std::exp((95 - r) / 22)) + 0.05 * std::sin(x / 17) * std::cos(y / 23);
            const double shift = noise * random.normal();
            for (std::size_t q = 0; q < 4; ++q) {
                const double value = level * (0.55 + 0.2 * static_cast<double>(q)) +
                                     shift * (0.5 + 0.25 * static_cast<double>(q)) +
                                     0.2 * noise * random.normal();
                values[p * 4 + q] = static_cast<float>(std::clamp(value, 0.0, 1.0));
            }
        }
    }
    [[nodiscard]] AnnuliPoints points() const { return {grid, 4, values, counts, AnnuliWeights::none}; }
};

const Annuli kBalanced{.cx = 4, .cy = -3, .radii = {75, 110, 145}};

void exact_evaluation(benchmark::State& state, AnnuliMetric metric) {
    const Curves curves(0.05);
    const Cloud cloud(curves.points());
    const auto fitness = exact_fitness(cloud, metric);
    const Spans spans(curves.grid, origin_of(curves.grid, AnnuliRule::consistent), kBalanced, Edge::open);
    const ThreadLimit limit(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(fitness->score(spans));
}
BENCHMARK_CAPTURE(exact_evaluation, euclidean, AnnuliMetric::euclidean)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(exact_evaluation, sqeuclidean, AnnuliMetric::sqeuclidean)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(exact_evaluation, manhattan, AnnuliMetric::manhattan)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void codebook_setup(benchmark::State& state) {
    const Curves curves(0.05);
    const Cloud cloud(curves.points());
    for (auto _ : state)
        benchmark::DoNotOptimize(Codebook(cloud, static_cast<std::size_t>(state.range(0))).cells());
}
BENCHMARK(codebook_setup)->Arg(256)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

void codebook_evaluation(benchmark::State& state) {
    const Curves curves(0.05);
    const Cloud cloud(curves.points());
    const Codebook codebook(cloud, static_cast<std::size_t>(state.range(0)));
    const Spans spans(curves.grid, origin_of(curves.grid, AnnuliRule::consistent), kBalanced, Edge::open);
    for (auto _ : state) benchmark::DoNotOptimize(codebook.score(spans));
}
BENCHMARK(codebook_evaluation)->Arg(256)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

/// The error of the code book relative to the exact fitness, over random candidates.
void print_codebook_error(const Curves& curves, std::size_t cells) {
    const Cloud cloud(curves.points());
    const Codebook codebook(cloud, cells);
    const auto exact = exact_fitness(cloud, AnnuliMetric::euclidean);
    double mean = 0, worst = 0;
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
        Random random(5, trial);
        Annuli annuli{.cx = random.uniform(-40, 40),
                      .cy = random.uniform(-40, 40),
                      .radii = {random.uniform(0, 150), random.uniform(0, 150), random.uniform(0, 200)}};
        std::sort(annuli.radii.begin(), annuli.radii.end());
        const Spans spans(curves.grid, origin_of(curves.grid, AnnuliRule::consistent), annuli, Edge::open);
        const double error = codebook.score(spans) / exact->score(spans) - 1;
        mean += error / 20;
        worst = std::max(worst, std::abs(error));
    }
    fmt::print("code book of {:4}: mean error {:+.5f} %, worst {:.5f} %\n", cells, 100 * mean, 100 * worst);
}

void print_fits(const Curves& curves, AnnuliShape shape) {
    std::vector<AnnuliFit> fits;
    std::vector<double> seconds, work;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const std::clock_t before = std::clock();
        const auto start = std::chrono::steady_clock::now();
        fits.push_back(fit_annuli(curves.points(), {.shape = shape, .bounds = {}, .seed = seed}));
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        work.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    }
    // The best known fitness: the best of these and of a search of 1000 generations.
    AnnuliFit best = *std::min_element(fits.begin(), fits.end(),
                                       [](const auto& a, const auto& b) { return a.fitness < b.fitness; });
    const AnnuliFit thorough = fit_annuli(curves.points(), {.shape = shape,
                                                            .bounds = {},
                                                            .population = 60,
                                                            .generations = 1000,
                                                            .spread = 0,
                                                            .stall = 0,
                                                            .seed = 100});
    if (thorough.fitness < best.fitness) best = thorough;
    fmt::print(
        "best known {:.6f}: centre ({:.2f}, {:.2f}) radii {:.2f} {:.2f} {:.2f} ratio {:.3f} angle {:.3f}\n",
        best.fitness, best.annuli.cx, best.annuli.cy, best.annuli.radii[0], best.annuli.radii[1],
        best.annuli.radii[2], best.annuli.axis_ratio, best.annuli.angle);
    for (std::size_t k = 0; k < fits.size(); ++k)
        fmt::print(
            "  seed {}: {:.3f} s ({:.3f} s of processor), exact fitness {:.6f}, {:+.5f} % from the best "
            "known, {} generations ({}), {} + {} steps\n",
            k, seconds[k], work[k], fits[k].fitness, 100 * (fits[k].fitness / best.fitness - 1),
            fits[k].generations, fits[k].stopped, fits[k].evaluations, fits[k].refinements);
}
}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    const ThreadLimit limit(2);
    for (const double noise : {0.02, 0.1}) {
        const Curves curves(noise);
        fmt::print("\n320 x 240, noise {}\n", noise);
        for (const std::size_t cells : {256, 512, 1024}) print_codebook_error(curves, cells);
        for (const AnnuliShape shape : {AnnuliShape::circle, AnnuliShape::ellipse}) {
            fmt::print("{}s, 2 threads\n", shape == AnnuliShape::circle ? "circle" : "ellipse");
            print_fits(curves, shape);
        }
    }
}
