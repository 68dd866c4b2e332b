// Compares levels that follow the image with one level for all images, on real outputs.
//
//   adapt FOLDER SET CLASS [--images 100] [--draws 6] [--test 500] [--alpha 0.1] [--method field]
//         [--score near] [--promise auto] [--from files] [--arrays DIR]
//
// FOLDER holds SET_cal_probs.npy, SET_cal_labels.npy, SET_test_probs.npy and SET_test_labels.npy. Each draw
// takes random images to calibrate on from the first two and others to test on from the last two, or both
// from all images together (--from pool); every image is a group. The program prints for one class, or for
// each (CLASS all), means over draws: a row with --adapt none, one with --adapt image, and their ratio.
//
//   coverage   the mean over test images of the share of their pixels of the class that are covered
//   spread     the mean over test images of |that share - (1 - alpha)|
//   far below  test images whose share lies more than 0.1 below 1 - alpha
//   hardest    the mean coverage of the tenth of the images with the largest doubt
//   false      share of the test pixels with another label whose set contains the class
//   place      the mean over pixels with at least 3 test samples of |coverage there - (1 - alpha)|
//   fit s      seconds of processor time to calibrate
//   predict ms milliseconds of processor time to predict a test image
//
// --arrays DIR writes the image numbers of each draw, for other tools.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <numeric>

#include "core/base/random.hpp"

namespace {
using namespace kandinsky;

constexpr std::size_t kFigures = 8;
using Row = std::array<double, kFigures>;

double processor_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// `count` of `all` images, sorted; `all` keeps the others.
std::vector<std::uint32_t> drawn(std::vector<std::uint32_t>& all, std::size_t count, Random& random) {
    count = std::min(count, all.size());
    for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(all.size() - i)]);
    std::vector<std::uint32_t> out(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> out(count);
    std::iota(out.begin(), out.end(), 0u);
    return out;
}

/// The images of one array, then those of the other.
Array joined(const Array& first, const Array& second) {
    std::vector<std::size_t> shape = first.shape();
    shape[0] += second.shape()[0];
    Array out = Array::zeros(first.dtype(), shape);
    const auto bytes = [](const Array& array) { return array.view().size() * size_of(array.dtype()); };
    std::copy_n(first.data_as<std::byte>(), bytes(first), out.mutable_data());
    std::copy_n(second.data_as<std::byte>(), bytes(second), out.mutable_data() + bytes(first));
    return out;
}

/// The figures of each class.
std::vector<Row> measure(const Dataset& cal, const Dataset& test, double alpha,
                         const CalibrateOptions& options) {
    const double start = processor_seconds();
    const Calibrator calibrator = calibrate(cal, options);
    const double fitted = processor_seconds();
    const std::size_t pixels = test.grid().pixels();
    std::vector<float> probs(test.classes() * pixels);
    std::vector<std::uint8_t> sets(probs.size());
    const Predictor predictor(calibrator, alpha, EmptySets::keep);
    double predicting = 0;
    for (std::size_t image = 0; image < test.images(); ++image) {
        test.read_probs(image, {0, pixels}, probs);
        const double before = processor_seconds();
        predictor.sets(probs, sets);
        predicting += processor_seconds() - before;
    }
    const EvaluationReport report =
        evaluate(test, {&calibrator}, {.alpha = alpha, .maps = false, .empty = EmptySets::keep});
    // The report does not have the mean over images, so it is computed from sets.
    std::vector<std::uint8_t> member(probs.size()), valid(pixels);
    std::vector<double> coverage(test.classes()), images(test.classes());
    for (std::size_t image = 0; image < test.images(); ++image) {
        test.read_probs(image, {0, pixels}, probs);
        test.read_truth(image, {0, pixels}, member, valid);
        predictor.sets(probs, sets);
        for (std::size_t c = 0; c < test.classes(); ++c) {
            double in = 0, all = 0;
            for (std::size_t i = c * pixels; i < (c + 1) * pixels; ++i)
                all += member[i], in += member[i] & sets[i];
            if (all > 0) coverage[c] += in / all, images[c] += 1;
        }
    }
    std::vector<Row> out;
    for (std::size_t c = 0; c < test.classes(); ++c) {
        const StratumEvaluation& own = report.calibrators.front().strata[c];
        out.push_back({coverage[c] / images[c], own.image_coverage.spread, own.image_coverage.far_below,
                       own.image_coverage.hardest, own.false_share, own.place_error, fitted - start,
                       predicting / static_cast<double>(test.images())});
    }
    return out;
}

void print(std::array<Row, 2> means) {
    for (std::size_t adapt = 0; adapt < 3; ++adapt) {
        Row row = means[adapt == 2 ? 0 : adapt];
        if (adapt == 2)
            for (std::size_t k = 0; k < kFigures; ++k) row[k] = means[1][k] / means[0][k];
        fmt::print("{:<8}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.2f}{:>12.4f}\n",
                   adapt == 0   ? "none"
                   : adapt == 1 ? "image"
                                : "ratio",
                   row[0], row[1], row[2], row[3], row[4], row[5], row[6],
                   adapt == 2 ? row[7] : row[7] * 1000);
    }
}
}  // namespace

int main(int argc, char** argv) try {
    std::map<std::string, std::string> flags{
        {"--images", "100"},   {"--draws", "6"},      {"--test", "500"},
        {"--alpha", "0.1"},    {"--method", "field"}, {"--score", "near"},
        {"--promise", "auto"}, {"--arrays", ""},      {"--from", "files"}};
    if (argc < 4 || argc % 2 != 0) {
        fmt::print(stderr, "usage: adapt FOLDER SET CLASS [--images N] [--draws N] [--test N] ...\n");
        return 2;
    }
    for (int i = 4; i + 1 < argc; i += 2) flags.at(argv[i]) = argv[i + 1];
    const std::filesystem::path base = std::filesystem::path(argv[1]) / argv[2];
    const auto read = [&](const char* what) { return read_npy(base.string() + what); };
    const bool pooled = flags["--from"] == "pool";
    const auto source = [&](const char* what, const char* other) {
        return pooled ? joined(read(what), read(other)) : read(what);
    };
    const Dataset first(source("_cal_probs.npy", "_test_probs.npy"),
                        source("_cal_labels.npy", "_test_labels.npy"));
    const Dataset second = pooled ? first : Dataset(read("_test_probs.npy"), read("_test_labels.npy"));
    const double alpha = std::stod(flags["--alpha"]);
    const std::size_t draws = std::stoul(flags["--draws"]);
    CalibrateOptions options;
    options.method.name = flags["--method"];
    options.score.kind = score_kind(flags["--score"]);
    options.promise = promise_of(flags["--promise"]);
    std::vector<std::array<Row, 2>> means(first.classes());
    for (std::size_t draw = 0; draw < draws; ++draw) {
        Random random(26, draw);
        std::vector<std::uint32_t> all = numbers(first.images());
        const std::vector<std::uint32_t> cal_images = drawn(all, std::stoul(flags["--images"]), random);
        if (!pooled) all = numbers(second.images());
        const std::vector<std::uint32_t> test_images = drawn(all, std::stoul(flags["--test"]), random);
        if (!flags["--arrays"].empty())
            for (const auto& [name, list] : {std::pair{"cal", &cal_images}, std::pair{"test", &test_images}})
                write_npy(std::filesystem::path(flags["--arrays"]) /
                              fmt::format("{}_{}_{}.npy", argv[2], draw, name),
                          Array::copy_of(*list, {list->size()}).view());
        for (std::size_t adapt = 0; adapt < 2; ++adapt) {
            options.adapt = adapt == 0 ? Adapt::none : Adapt::image;
            const std::vector<Row> rows =
                measure(first.subset(cal_images), second.subset(test_images), alpha, options);
            for (std::size_t c = 0; c < rows.size(); ++c)
                for (std::size_t k = 0; k < kFigures; ++k)
                    means[c][adapt][k] += rows[c][k] / static_cast<double>(draws);
        }
    }
    for (std::size_t c = 0; c < means.size(); ++c) {
        if (argv[3] != std::string("all") && c != std::stoul(argv[3])) continue;
        fmt::print("{} {} images, class {}, {} {}, promise {}, alpha {}, {} draws\n", argv[2],
                   flags["--images"], c, flags["--method"], flags["--score"], flags["--promise"], alpha,
                   draws);
        fmt::print("{:<8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "adapt", "coverage", "spread",
                   "far below", "hardest", "false", "place", "fit s", "predict ms");
        print(means[c]);
    }
} catch (const std::exception& error) {
    fmt::print(stderr, "adapt: {}\n", error.what());
    return 1;
}
