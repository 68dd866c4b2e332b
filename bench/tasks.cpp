// The tasks that are not commands, each timed in this process and printed as one line of JSON: prediction and
// copying, k-means, curves, coverage errors, reading, the loops for order statistics. bench/run.py calls it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <kandinsky/kandinsky.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/predictor.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/data/dataset_access.hpp"
#include "core/kernel/half.hpp"
#include "core/team/checkpoint.hpp"
#include "core/team/team.hpp"
#include "curve/curve_storage.hpp"
#include "curve/pixel_pass.hpp"
#include "curve/region_pass.hpp"
#include "partition/kmeans/lloyd.hpp"

namespace {

using namespace kandinsky;

double seconds_of(const std::function<void()>& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The least time of each task. The tasks take turns, so that load affects all of them.
std::vector<double> least_of(std::size_t rounds, const std::vector<std::function<void()>>& works) {
    std::vector<double> least(works.size(), std::numeric_limits<double>::infinity());
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < works.size(); ++i) least[i] = std::min(least[i], seconds_of(works[i]));
    return least;
}

Calibrator pixelwise(const Grid& grid) {
    constexpr std::size_t kImages = 40;
    Random random(1, 1);
    std::vector<float> probs(kImages * 2 * grid.pixels());
    std::vector<std::uint8_t> labels(kImages * grid.pixels());
    for (float& p : probs) p = static_cast<float>(random.uniform());
    for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(random.below(2));
    const Dataset data(Array::copy_of(probs, {kImages, 2, grid.height, grid.width}),
                       Array::copy_of(labels, {kImages, grid.height, grid.width}), {});
    CalibrateOptions options{.score = {}, .promise = Promise::none};
    options.method.name = "pixel";
    return calibrate(data, options);
}

/// Sets of 128 images from memory, against a copy of the same probabilities; one thread.
void predict() {
    const Grid grid{240, 320};
    constexpr std::size_t kImages = 128;
    const std::size_t each = 2 * grid.pixels();
    const Predictor predictor(pixelwise(grid), 0.1, EmptySets::keep);  // as in the other tools
    std::vector<float> floats(kImages * each), floats_copy(floats.size());
    std::vector<std::uint16_t> halves(floats.size()), halves_copy(floats.size());
    Random random(2, 2);
    for (std::size_t i = 0; i < floats.size(); ++i) {
        floats[i] = static_cast<float>(random.uniform());
        halves[i] = float_to_half(floats[i]);
    }
    std::vector<std::uint8_t> sets(floats.size()), bits(kImages * 2 * grid.height * predictor.packed_width());
    const auto for_images = [&](auto&& work) {
        return [work, each] {
            for (std::size_t n = 0; n < kImages; ++n) work(n * each);
        };
    };
    const std::size_t packed = bits.size() / kImages;
    bool fine = true;
    const std::vector<double> least = least_of(
        15,
        {for_images([&](std::size_t at) {
             predictor.sets({floats.data() + at, each}, {sets.data() + at, each});
         }),
         for_images([&](std::size_t at) {
             predictor.packed_sets({floats.data() + at, each}, {bits.data() + at / each * packed, packed});
         }),
         for_images([&](std::size_t at) {
             std::memcpy(floats_copy.data() + at, floats.data() + at, each * sizeof(float));
         }),
         for_images([&](std::size_t at) {
             fine &= predictor.half_sets({halves.data() + at, each}, {sets.data() + at, each}).has_value();
         }),
         for_images(
             [&](std::size_t at) { std::memcpy(halves_copy.data() + at, halves.data() + at, each * 2); }),
         [&] {
             predictor.sets({floats.data(), each}, {sets.data(), each});
         }});
    fmt::print(
        "{{\"images\": {}, \"float32\": {}, \"packed\": {}, \"float32_memcpy\": {}, \"float16\": {}, "
        "\"float16_memcpy\": {}, \"one_image\": {}, \"fine\": {}}}\n",
        kImages, least[0], least[1], least[2], least[3], least[4], least[5], fine);
}

/// k-means with k = 4 of the points in a file, [point][4].
void kmeans(const std::string& file) {
    const std::vector<float> rows = read_npy(file).to_vector<float>();
    partition::kmeans::Clustering found;
    constexpr std::size_t kRounds = 5;
    const std::clock_t before = std::clock();  // of all threads
    const double seconds = least_of(
        kRounds, {[&] { found = partition::kmeans::cluster(rows, 4, {.clusters = 4, .seed = 1}); }})[0];
    const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / kRounds;
    fmt::print("{{\"seconds\": {}, \"cpu\": {}, \"inertia\": {}}}\n", seconds, cpu, found.inertia);
}

/// Curves of every pixel from files to memory, as in the other tools' scripts.
void curves(const std::string& probs, const std::string& labels) {
    std::size_t count = 0;
    const std::clock_t before = std::clock();  // of all threads
    const double seconds = seconds_of([&] {
        CalibrateOptions options{.score = {}, .promise = Promise::none};
        options.method.name = "pixel";
        options.pooling = Pooling::pixels;
        const Calibrator made = calibrate(Dataset(read_npy(probs), read_npy(labels), {}), options);
        for (const CurveSet& set : made.curves) count += storage_of(set).values.size();
    });
    fmt::print("{{\"seconds\": {}, \"cpu\": {}, \"values\": {}}}\n", seconds,
               static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, count);
}

/// The map of the coverage error and the other results of evaluate(); the calibrator is in memory.
void errors(const std::string& calibrator, const std::string& probs, const std::string& labels) {
    const Calibrator judged = load(calibrator);
    double mean = 0;
    const std::clock_t before = std::clock();  // of all threads
    const double seconds = seconds_of([&] {
        const Dataset data(read_npy(probs), read_npy(labels), {});
        mean = evaluate(data, {&judged}, {.ece_maps = false}).calibrators.front().strata.back().mean_ce;
    });
    fmt::print("{{\"seconds\": {}, \"cpu\": {}, \"mean\": {}}}\n", seconds,
               static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, mean);
}

/// Reads every probability of a file as a float.
void read(const std::string& file) {
    double checksum = 0;
    const double seconds = seconds_of([&] {
        const Dataset data(read_npy(file));
        std::vector<double> sums(data.images());
        parallel_for(data.images(), [&](std::size_t image) {
            thread_local std::vector<float> probs;
            probs.resize(data.classes() * data.grid().pixels());
            data.read_probs(image, {0, data.grid().pixels()}, probs);
            data.release(image, image + 1);
            sums[image] = probs[probs.size() / 2];
        });
        for (const double sum : sums) checksum += sum;
    });
    fmt::print("{{\"seconds\": {}, \"checksum\": {}}}\n", seconds, checksum);
}

/// A checkpoint that stores nothing. With a checkpoint the pass counts scores, as with several ranks.
class NoCheckpoint final : public Checkpoint {
  public:
    std::optional<std::size_t> load(std::size_t, std::string_view, const State&) override { return {}; }
    void save(std::size_t, std::string_view, std::size_t, const State&) override {}
    std::optional<std::vector<std::byte>> recall(std::size_t, std::string_view) override { return {}; }
    void keep(std::size_t, std::string_view, std::span<const std::byte>) override {}
    bool due() const override { return false; }
    double interval() const override { return 1e9; }
};

/// The two loops for order statistics of pixels and of regions: scores are held and sorted, or counted pass
/// by pass. The labels and probabilities are in memory.
void loops(const std::string& probs, const std::string& labels) {
    NoCheckpoint nothing;
    const auto counting = std::make_shared<const Team>(Team{.comm = alone(), .checkpoint = &nothing});
    const Array stored = read_npy(probs), truth = read_npy(labels);
    const Dataset halves(stored, truth, {});
    const Dataset floats(Array::copy_of(stored.to_vector<float>(), stored.shape()), truth, {});
    const Census census = take_census(halves, Condition::by_class, silent());
    const Grid grid = halves.grid();
    // 64 blocks, of some 300,000 scores each.
    Partition blocks{.region = {}, .regions = 64};
    for (std::uint32_t y = 0; y < grid.height; ++y)
        for (std::uint32_t x = 0; x < grid.width; ++x)
            blocks.region.push_back(y * 8 / grid.height * 8 + x * 8 / grid.width);
    const std::vector<Partition> partitions(census.strata, blocks);
    const auto pixels = [&](const Dataset& data) {
        (void)pixel_pass(data, census,
                         {.quantiles = {}, .curves = true, .rule = {.ladder = Ladder::uniform(200)}},
                         silent());
    };
    const auto regions = [&](const Dataset& data) {
        (void)region_pass(data, census, partitions, {.rule = {.ladder = Ladder::uniform(2000)}}, silent());
    };
    const std::vector<double> least =
        least_of(3, {[&] { pixels(halves); }, [&] { pixels(as_rank_part(halves, counting)); },
                     [&] { regions(floats); }, [&] { regions(as_rank_part(floats, counting)); },
                     [&] { regions(as_rank_part(halves, counting)); }});
    fmt::print(
        "{{\"pixels_held\": {}, \"pixels_counted\": {}, \"regions_sorted\": {}, \"regions_counted\": {}, "
        "\"halves_counted\": {}}}\n",
        least[0], least[1], least[2], least[3], least[4]);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string task = argc > 1 ? argv[1] : "";
    if (task == "predict")
        predict();
    else if (task == "kmeans" && argc > 2)
        kmeans(argv[2]);
    else if (task == "read" && argc > 2)
        read(argv[2]);
    else if (task == "curves" && argc > 3)
        curves(argv[2], argv[3]);
    else if (task == "errors" && argc > 4)
        errors(argv[2], argv[3], argv[4]);
    else if (task == "loops" && argc > 3)
        loops(argv[2], argv[3]);
    else
        return fmt::print(stderr,
                          "usage: bench_tasks predict | kmeans POINTS.npy | read PROBS.npy | "
                          "curves PROBS.npy LABELS.npy | errors CAL.kcal PROBS.npy LABELS.npy | "
                          "loops PROBS.npy LABELS.npy\n"),
               2;
    return 0;
}
