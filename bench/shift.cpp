// Measures how weights and recalibration restore coverage when new images come from another population.
//
//   shift FOLDER SET [--class 1] [--feature area] [--tilt 3] [--alpha 0.1] [--images 400] [--new 300]
//                    [--test 400] [--draws 100] [--stride 3] [--method field] [--promise split] [--score
//                    near]
//   shift FOLDER SET --odds 0.25 [...]
//
// FOLDER holds SET_cal_probs.npy and SET_cal_labels.npy, the pool; every image is a group. Each draw takes
// --images random images to calibrate on. New images come from the rest of the pool by a known covariate
// shift: an image is taken with probability exp(tilt (rank - 1)) for tilt > 0 and exp(tilt rank) for tilt <
// 0. The rank, from 0 to 1, is the image's place in the pool by a feature of the outputs of class 1 (area,
// doubt, inside or stray, see docs/adapt.md). The first --new of these have no labels, the next --test do.
// There are three calibrators: without weights, with the known weights, and with weights learnt from the new
// images.
//
// --odds (two classes): instead of resampling, new outputs have the odds of class 1 times that number. A
// calibrator of the old outputs is then recalibrated by 20, 50 and 100 new labelled images.
//
// The program prints means over draws with their standard error: coverage (the mean over test images of the
// share of their pixels of the class that are covered), false share (share of the test pixels with another
// label whose set contains the class), effective number of images, weight at infinity. Sets are measured
// before filling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <numeric>

#include "core/base/random.hpp"
#include "partition/method.hpp"
#include "score/image_features.hpp"

namespace {
using namespace kandinsky;

struct Wanted {
    std::string folder, set, feature = "area";
    std::size_t cls = 1, images = 400, fresh = 300, test = 400, draws = 100, stride = 3;
    double tilt = 3, odds = 0;
    std::vector<double> alphas{0.1};
    CalibrateOptions options{};
};

struct Pool {
    std::size_t images = 0, classes = 0, height = 0, width = 0;
    std::vector<float> probs;
    std::vector<std::uint8_t> labels;

    [[nodiscard]] std::size_t pixels() const { return height * width; }
    [[nodiscard]] Dataset data(const std::vector<std::uint32_t>& rows) const {
        return Dataset(Array::copy_of(probs, {images, classes, height, width}),
                       Array::copy_of(labels, {images, height, width}), Array())
            .subset(rows);
    }
};

/// Every `stride`-th row and column of the pool.
Pool read_pool(const Wanted& wanted) {
    const std::string base = wanted.folder + "/" + wanted.set + "_cal_";
    const Dataset all(read_npy(base + "probs.npy"), read_npy(base + "labels.npy"), Array());
    const Grid grid = all.grid();
    Pool out{.images = all.images(),
             .classes = all.classes(),
             .height = (grid.height + wanted.stride - 1) / wanted.stride,
             .width = (grid.width + wanted.stride - 1) / wanted.stride,
             .probs = {},
             .labels = {}};
    std::vector<float> probs(out.classes * grid.pixels());
    std::vector<std::uint8_t> member(probs.size()), valid(grid.pixels());
    for (std::size_t image = 0; image < out.images; ++image) {
        all.read_probs(image, {0, grid.pixels()}, probs);
        all.read_truth(image, {0, grid.pixels()}, member, valid);
        const auto thin = [&](auto&& take) {
            for (std::size_t y = 0; y < grid.height; y += wanted.stride)
                for (std::size_t x = 0; x < grid.width; x += wanted.stride) take(y * grid.width + x);
        };
        for (std::size_t c = 0; c < out.classes; ++c)
            thin([&](std::size_t p) { out.probs.push_back(probs[c * grid.pixels() + p]); });
        thin([&](std::size_t p) {
            std::uint8_t label = 255;
            for (std::size_t c = 0; c < out.classes; ++c)
                if (valid[p] != 0 && member[c * grid.pixels() + p] != 0) label = static_cast<std::uint8_t>(c);
            out.labels.push_back(label);
        });
    }
    return out;
}

/// [image of the pool] the probability of being taken, which is the likelihood ratio and at most 1.
std::vector<double> ratios(const Wanted& wanted, const Dataset& pool) {
    const auto* const name =
        std::find(ImageFeatures::kNames.begin(), ImageFeatures::kNames.end(), wanted.feature);
    if (name == ImageFeatures::kNames.end()) throw std::runtime_error("there is no such feature");
    const auto number = static_cast<std::size_t>(name - ImageFeatures::kNames.begin());
    const auto features = features_of(pool, Condition::by_class, silent());
    std::vector<std::size_t> order(pool.images());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return features[a][1].values[number] < features[b][1].values[number];
    });
    std::vector<double> out(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double rank = static_cast<double>(i) / static_cast<double>(order.size() - 1);
        out[order[i]] = std::exp(wanted.tilt > 0 ? wanted.tilt * (rank - 1) : wanted.tilt * rank);
    }
    return out;
}

struct Figures {
    std::vector<double> coverage, false_share, effective, at_infinity;  // [draw]
};

void judge(const Calibrator& calibrator, double alpha, const Dataset& test, std::size_t cls, Figures& out) {
    const std::size_t pixels = test.grid().pixels(), classes = test.classes();
    const Predictor predictor(calibrator, alpha, EmptySets::keep);
    std::vector<float> probs(classes * pixels);
    std::vector<std::uint8_t> sets(classes * pixels), member(classes * pixels), valid(pixels);
    double coverage = 0, images = 0, wrong = 0, others = 0;
    for (std::size_t image = 0; image < test.images(); ++image) {
        test.read_probs(image, {0, pixels}, probs);
        test.read_truth(image, {0, pixels}, member, valid);
        predictor.sets(probs, sets);
        double in = 0, all = 0;
        for (std::size_t p = 0; p < pixels; ++p) {
            if (valid[p] == 0) continue;
            const std::size_t at = cls * pixels + p;
            (member[at] != 0 ? in : wrong) += sets[at];
            (member[at] != 0 ? all : others) += 1;
        }
        if (all > 0) coverage += in / all, images += 1;
    }
    out.coverage.push_back(coverage / images);
    out.false_share.push_back(wrong / others);
    out.effective.push_back(calibrator.weighting.effective);
    out.at_infinity.push_back(calibrator.weighting.at_infinity);
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double error_of(const std::vector<double>& values) {
    double squares = 0;
    for (const double one : values) squares += (one - mean_of(values)) * (one - mean_of(values));
    const auto n = static_cast<double>(values.size());
    return n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
}

std::vector<std::uint32_t> shuffled(std::size_t images, Random& random) {
    std::vector<std::uint32_t> deck(images);
    std::iota(deck.begin(), deck.end(), 0u);
    for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[random.below(i)]);
    return deck;
}

using Found = std::map<std::pair<double, std::string>, Figures>;

void resample(const Wanted& wanted, const Dataset& pool, Found& found) {
    const std::vector<double> ratio = ratios(wanted, pool);
    for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
        Random random(17, 0x73686966, draw);
        const std::vector<std::uint32_t> deck = shuffled(pool.images(), random);
        const auto rest = deck.begin() + static_cast<std::ptrdiff_t>(wanted.images);
        const std::vector<std::uint32_t> old(deck.begin(), rest);
        std::vector<std::uint32_t> fresh, test;
        for (auto at = rest; at != deck.end() && test.size() < wanted.test; ++at)
            if (random.uniform() < ratio[*at]) (fresh.size() < wanted.fresh ? fresh : test).push_back(*at);
        if (test.size() < wanted.test) throw std::runtime_error("the pool is too small for so many images");
        const Dataset calibration = pool.subset(old), unlabelled = pool.subset(fresh),
                      judges = pool.subset(test);
        for (const char* const rule : {"none", "known", "learnt"}) {
            CalibrateOptions options = wanted.options;
            options.seed = draw;  // so that other groups learn in each draw
            if (std::strcmp(rule, "known") == 0) options.weights = {.of_row = ratio, .bound = 1};
            if (std::strcmp(rule, "learnt") == 0) options.weights = learn_weights(calibration, unlabelled);
            const Calibrator calibrator = calibrate(calibration, options);
            for (const double alpha : wanted.alphas)
                judge(calibrator, alpha, judges, wanted.cls, found[{alpha, rule}]);
        }
    }
}

void change_odds(const Wanted& wanted, const Pool& pool, const Dataset& before, Found& found) {
    if (pool.classes != 2) throw std::runtime_error("--odds needs two classes");
    Pool changed = pool;
    for (std::size_t image = 0; image < pool.images; ++image)
        for (std::size_t p = 0; p < pool.pixels(); ++p) {
            float* const other = changed.probs.data() + image * 2 * pool.pixels() + p;
            float* const own = other + pool.pixels();
            const double odds = wanted.odds * *own / std::max(1e-9, 1.0 - *own);
            *own = static_cast<float>(odds / (1 + odds));
            *other = 1 - *own;
        }
    std::vector<std::uint32_t> all(pool.images);
    std::iota(all.begin(), all.end(), 0u);
    const Dataset after = changed.data(all);
    for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
        Random random(17, 0x73686966, draw);
        const std::vector<std::uint32_t> deck = shuffled(pool.images, random);
        const auto part = [&](std::size_t first, std::size_t count) {
            return std::vector<std::uint32_t>(deck.begin() + static_cast<std::ptrdiff_t>(first),
                                              deck.begin() + static_cast<std::ptrdiff_t>(first + count));
        };
        CalibrateOptions options = wanted.options;
        options.seed = draw;
        const Calibrator old = calibrate(before.subset(part(0, wanted.images)), options);
        const Dataset judges = after.subset(part(wanted.images + 100, wanted.test));
        for (const double alpha : wanted.alphas) {
            judge(old, alpha, before.subset(part(wanted.images + 100, wanted.test)), wanted.cls,
                  found[{alpha, "0 old outputs"}]);
            judge(old, alpha, judges, wanted.cls, found[{alpha, "1 new outputs"}]);
            for (const std::size_t count : {20u, 50u, 100u})
                judge(recalibrate(old, after.subset(part(wanted.images, count))), alpha, judges, wanted.cls,
                      found[{alpha, fmt::format("{} by {} images",
                                                count == 20   ? 2
                                                : count == 50 ? 3
                                                              : 4,
                                                count)}]);
        }
    }
}

Wanted read_words(int argc, char** argv) {
    if (argc < 3) throw std::runtime_error("shift FOLDER SET [--option value ...]; the source explains them");
    Wanted out;
    out.folder = argv[1], out.set = argv[2];
    out.options.method.name = "field";
    out.options.promise = Promise::split;
    for (int i = 3; i + 1 < argc; i += 2) {
        const std::string flag = argv[i], value = argv[i + 1];
        const auto whole = [&] { return static_cast<std::size_t>(std::stoul(value)); };
        if (flag == "--class")
            out.cls = whole();
        else if (flag == "--images")
            out.images = whole();
        else if (flag == "--new")
            out.fresh = whole();
        else if (flag == "--test")
            out.test = whole();
        else if (flag == "--draws")
            out.draws = whole();
        else if (flag == "--stride")
            out.stride = whole();
        else if (flag == "--feature")
            out.feature = value;
        else if (flag == "--tilt")
            out.tilt = std::stod(value);
        else if (flag == "--odds")
            out.odds = std::stod(value);
        else if (flag == "--alpha")
            out.alphas = {std::stod(value)};
        else if (flag == "--method")
            out.options.method.name = value;
        else if (flag == "--score")
            out.options.score.kind = score_kind(value);
        else if (flag == "--promise")
            out.options.promise = promise_of(value);
        else if (flag == "--split")
            out.options.split = std::stod(value), out.options.promise = Promise::split;
        else
            throw std::runtime_error("there is no option " + flag);
    }
    if (!method(out.options.method.name).uses_labels) out.options.promise = Promise::none;
    return out;
}
}  // namespace

int main(int argc, char** argv) try {
    const Wanted wanted = read_words(argc, argv);
    const Pool pool = read_pool(wanted);
    std::vector<std::uint32_t> all(pool.images);
    std::iota(all.begin(), all.end(), 0u);
    const Dataset data = pool.data(all);
    Found found;
    if (wanted.odds > 0)
        change_odds(wanted, pool, data, found);
    else
        resample(wanted, data, found);
    fmt::print(
        "| alpha | weights | coverage | false share | effective | at infinity "
        "|\n|---|---|---|---|---|---|\n");
    for (const auto& [what, own] : found)
        fmt::print("| {} | {} | {:.4f} ({:.4f}) | {:.4f} | {:.1f} | {:.4f} |\n", what.first, what.second,
                   mean_of(own.coverage), error_of(own.coverage), mean_of(own.false_share),
                   mean_of(own.effective), mean_of(own.at_infinity));
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
