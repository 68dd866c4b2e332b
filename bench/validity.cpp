// Checks that every rule keeps its guarantee: coverage over many small calibration sets of real outputs.
//
//   validity FOLDER [--draws 200] [--images 50] [--test-images 150] [--alphas 0.05,0.1,0.2] [--only NAME]
//   [--skip NAME] [--quick]
//
// FOLDER holds pets_cal_probs.npy, pets_cal_labels.npy, pets_test_probs.npy and pets_test_labels.npy (class 1
// is measured). Each draw takes random calibration and test images from all of them together, so that the
// two are exchangeable by construction, and calibrates by every rule on the same images. Slow rules without a
// guarantee get fewer draws (column draws). --quick: few draws of the fast rules.
//
// A guarantee must hold on average over draws. PASS: mean + 2.33 sd / sqrt(draws) >= 1 - alpha; Monte Carlo
// error may explain a mean below 1 - alpha (one-sided, 1 %). The exit status is 1 if a rule fails.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <kandinsky/kandinsky.hpp>
#include <numeric>
#include <optional>

#include "core/base/random.hpp"
#include "partition/method.hpp"

namespace {
using namespace kandinsky;

constexpr std::size_t kClass = 1, kRings = 4;
constexpr const char* kRingNames[kRings] = {"centre", "inner", "outer", "corners"};

struct Wanted {
    std::string folder, only, skip;
    std::size_t draws = 200, images = 50, test_images = 150;
    std::vector<double> alphas{0.05, 0.1, 0.2};
    bool quick = false;
};

/// What a rule guarantees to cover with at least 1 - alpha, on average over draws.
enum class Promise {
    nothing,
    images,   ///< a random pixel of a random image: the mean of the images' own coverages
    regions,  ///< the same within each region that an image has pixels in
    chosen,   ///< as `images` if the chosen method is soft, otherwise as `regions`
    pixels,   ///< at each pixel, over images with the class there; so also the mean over pixels
};

struct Rule {
    std::string name;
    CalibrateOptions options{.score = {}};
    Promise promise;
    double share = 1;  ///< share of the draws
};

/// Whether the rule fits shapes or cross-validates.
bool slow(const Rule& rule) {
    const std::string& name = rule.options.method.name;
    return name == "genann" || name == "fcc" || name == "field" || name == "auto";
}

/// Rings of ellipses with the image's aspect, from the centre outwards.
std::vector<std::uint32_t> rings_of(const Grid& grid) {
    std::vector<std::uint32_t> ring(grid.pixels());
    for (std::size_t p = 0; p < ring.size(); ++p) {
        const double x = (static_cast<double>(p % grid.width) + 0.5) / grid.width * 2 - 1;
        const double y = (static_cast<double>(p / grid.width) + 0.5) / grid.height * 2 - 1;
        const double r = std::sqrt(x * x + y * y);
        ring[p] = r < 0.4 ? 0 : r < 0.7 ? 1 : r < 1 ? 2 : 3;
    }
    return ring;
}

std::vector<Rule> make_rules(const Grid& grid) {
    const auto rule = [](const std::string& method, Pooling pooling, double split) {
        CalibrateOptions options{.score = {}};
        options.method.name = method;
        options.pooling = pooling;
        options.split = split;
        options.promise = split > 0 ? kandinsky::Promise::split : kandinsky::Promise::none;
        return options;
    };
    const auto four = [&](const std::string& method, double split) {
        CalibrateOptions options = rule(method, Pooling::groups, split);
        options.method.settings.text = {{"kmeans-clusters", "4"}, {"genann-radii", "3"}, {"fcc-curves", "3"}};
        return options;
    };
    CalibrateOptions rings = rule("mask", Pooling::groups, 0);
    rings.method.settings.arrays["mask"] = Array::copy_of(rings_of(grid), {grid.height, grid.width});
    CalibrateOptions released = rule("pixel", Pooling::pixels, 0);
    released.released = true;
    const auto groups = Pooling::groups, pixels = Pooling::pixels;
    return {
        {"image, pooling groups", rule("image", groups, 0), Promise::images},
        {"fixed rings, pooling groups", rings, Promise::regions},
        {"pixel, pooling groups", rule("pixel", groups, 0), Promise::pixels},
        {"kmeans, 4 regions, groups, split 0.5", four("kmeans", 0.5), Promise::regions},
        {"kmeans, groups, split 0.5", rule("kmeans", groups, 0.5), Promise::regions},
        {"genann, 4 regions, groups, split 0.5", four("genann", 0.5), Promise::regions},
        {"genann, groups, split 0.5", rule("genann", groups, 0.5), Promise::regions},
        {"fcc, 4 regions, groups, split 0.5", four("fcc", 0.5), Promise::regions},
        {"fcc, groups, split 0.5", rule("fcc", groups, 0.5), Promise::regions},
        {"field, groups, split 0.5", rule("field", groups, 0.5), Promise::images},
        {"auto, groups, split 0.5", rule("auto", groups, 0.5), Promise::chosen},
        {"image, pooling pixels", rule("image", pixels, 0), Promise::nothing},
        {"released code, pixelwise", released, Promise::nothing},
        {"kmeans, pooling pixels", rule("kmeans", pixels, 0), Promise::nothing},
        {"kmeans, groups", rule("kmeans", groups, 0), Promise::nothing},
        {"genann, groups", rule("genann", groups, 0), Promise::nothing, 0.5},
        {"fcc, groups", rule("fcc", groups, 0), Promise::nothing, 0.5},
        {"field, pooling pixels", rule("field", pixels, 0), Promise::nothing, 0.5},
        {"field, groups (cross-fitted)", rule("field", groups, 0), Promise::nothing, 0.5},
        {"auto, groups", rule("auto", groups, 0), Promise::nothing, 0.25},
    };
}

/// Both files of outputs with labels, as one sequence of images.
class Images {
  public:
    explicit Images(const std::string& folder) {
        for (const char* set : {"pets_cal", "pets_test"}) {
            probs_.push_back(read(folder, std::string(set) + "_probs.npy"));
            labels_.push_back(read(folder, std::string(set) + "_labels.npy"));
        }
    }
    [[nodiscard]] std::size_t count() const { return probs_[0].shape()[0] + probs_[1].shape()[0]; }

    /// Some of the images as a data set. Labels other than the class of interest do not count.
    [[nodiscard]] Dataset take(const std::vector<std::size_t>& which) const {
        DatasetOptions options;
        options.ignore = {255, 0};
        return {gather(probs_, which), gather(labels_, which), {}, options};
    }

  private:
    static Array read(const std::string& folder, const std::string& name) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (!std::filesystem::exists(path))
            throw Error(ErrorKind::file,
                        fmt::format("{} is missing; the first lines of bench/validity.cpp describe "
                                    "the arrays that are needed",
                                    path.string()));
        return read_npy(path);
    }
    static Array gather(const std::vector<Array>& files, const std::vector<std::size_t>& which) {
        std::vector<std::size_t> shape = files[0].shape();
        const std::size_t bytes =
            std::accumulate(shape.begin() + 1, shape.end(), size_of(files[0].dtype()), std::multiplies<>());
        shape[0] = which.size();
        Array out = Array::zeros(files[0].dtype(), shape);
        for (std::size_t i = 0; i < which.size(); ++i) {
            const std::size_t first = files[0].shape()[0];
            const ArrayView& from = files[which[i] < first ? 0 : 1].view();
            std::memcpy(out.mutable_data() + i * bytes,
                        from.at(which[i] < first ? which[i] : which[i] - first), bytes);
        }
        return out;
    }
    std::vector<Array> probs_, labels_;
};

/// The scores of the class in each of some images.
struct TestScores {
    struct One {
        std::uint32_t pixel;
        float score;
    };
    std::vector<std::vector<One>> images;

    explicit TestScores(const Dataset& data) : images(data.images()) {
        const std::size_t pixels = data.grid().pixels();
        std::vector<float> probs(data.classes() * pixels);
        std::vector<std::uint8_t> member(data.classes() * pixels), valid(pixels);
        for (std::size_t i = 0; i < data.images(); ++i) {
            data.read_probs(i, {0, pixels}, probs);
            data.read_truth(i, {0, pixels}, member, valid);
            for (std::uint32_t p = 0; p < pixels; ++p)
                if (member[kClass * pixels + p] != 0)
                    images[i].push_back({p, 1.0f - probs[kClass * pixels + p]});
        }
    }
};

/// Coverage of one calibrator on one draw's test images.
struct Measured {
    double image = 0, region = 0, pixel = 0;
    bool soft = false;  ///< the class got a soft method
    double covered[kRings] = {}, seen[kRings] = {};
};

Measured measure(const Calibrator& calibrator, double alpha, const TestScores& test,
                 const std::vector<std::uint32_t>& ring) {
    const std::size_t pixels = calibrator.grid.pixels();
    const std::vector<float> all = score_thresholds(calibrator, alpha);
    const float* const limit = all.data() + kClass * pixels;
    const Partition& partition = calibrator.partitions[kClass];
    std::vector<double> region_sum(partition.regions), region_images(partition.regions);
    Measured out;
    out.soft = method(calibrator.method_of(kClass)).fit_curves != nullptr;
    double images = 0;
    for (const auto& scores : test.images) {
        if (scores.empty()) continue;
        std::vector<double> covered(partition.regions), seen(partition.regions);
        double own = 0;
        for (const auto& [pixel, score] : scores) {
            const double in = score <= limit[pixel] ? 1 : 0;  // a NaN of the released rule covers nothing
            own += in;
            out.covered[ring[pixel]] += in;
            out.seen[ring[pixel]] += 1;
            covered[partition.region[pixel]] += in;
            seen[partition.region[pixel]] += 1;
        }
        out.image += own / static_cast<double>(scores.size());
        images += 1;
        for (std::size_t r = 0; r < seen.size(); ++r)
            if (seen[r] > 0) region_sum[r] += covered[r] / seen[r], region_images[r] += 1;
    }
    out.image /= images;
    double regions = 0;
    for (std::size_t r = 0; r < region_sum.size(); ++r)
        if (region_images[r] > 0) out.region += region_sum[r] / region_images[r], regions += 1;
    out.region /= regions;
    out.pixel = std::accumulate(out.covered, out.covered + kRings, 0.0) /
                std::accumulate(out.seen, out.seen + kRings, 0.0);
    return out;
}

struct Moments {
    double mean = 0, sd = 0;
};

Moments moments(const std::vector<double>& values) {
    Moments out;
    for (const double v : values) out.mean += v / static_cast<double>(values.size());
    for (const double v : values) out.sd += (v - out.mean) * (v - out.mean);
    out.sd = values.size() > 1 ? std::sqrt(out.sd / static_cast<double>(values.size() - 1)) : 0;
    return out;
}

/// Prints the row of a rule; returns false if a guarantee is not kept.
bool print_row(const Rule& rule, double alpha, const std::vector<Measured>& draws) {
    std::vector<double> image, pixel, promised;
    double covered[kRings] = {}, seen[kRings] = {};
    for (const Measured& one : draws) {
        image.push_back(one.image);
        pixel.push_back(one.pixel);
        const bool by_region =
            rule.promise == Promise::regions || (rule.promise == Promise::chosen && !one.soft);
        promised.push_back(by_region ? one.region : rule.promise == Promise::pixels ? one.pixel : one.image);
        for (std::size_t r = 0; r < kRings; ++r) covered[r] += one.covered[r], seen[r] += one.seen[r];
    }
    const Moments by_image = moments(image), by_pixel = moments(pixel), of_promise = moments(promised);
    const double upper =
        of_promise.mean + 2.33 * of_promise.sd / std::sqrt(static_cast<double>(draws.size()));
    const bool kept = rule.promise == Promise::nothing || upper >= 1 - alpha;
    std::string verdict = "| nothing | | |";
    if (rule.promise != Promise::nothing)
        verdict = fmt::format("| {} | {:.3f} (at most {:.3f}) | {} |",
                              rule.promise == Promise::images    ? "images"
                              : rule.promise == Promise::regions ? "regions"
                              : rule.promise == Promise::chosen  ? "images or regions"
                                                                 : "pixels",
                              of_promise.mean, upper, kept ? "PASS" : "FAIL");
    fmt::print("| {} | {} | {:.3f} ({:.3f}) | {:.3f} ({:.3f}) |", rule.name, draws.size(), by_image.mean,
               by_image.sd, by_pixel.mean, by_pixel.sd);
    for (std::size_t r = 0; r < kRings; ++r) fmt::print("{} {:.3f}", r > 0 ? " /" : "", covered[r] / seen[r]);
    fmt::print(" {}\n", verdict);
    return kept;
}

bool run(const Wanted& wanted) {
    const Images images(wanted.folder);
    const std::size_t draws = wanted.quick ? 5 : wanted.draws;
    const Grid grid = images.take({0}).grid();
    const std::vector<std::uint32_t> ring = rings_of(grid);
    std::vector<Rule> rules = make_rules(grid);
    std::erase_if(rules, [&](const Rule& rule) {
        return rule.name.find(wanted.only) == std::string::npos ||
               (!wanted.skip.empty() && rule.name.find(wanted.skip) != std::string::npos) ||
               (wanted.quick && slow(rule));
    });
    std::vector<std::vector<std::vector<Measured>>> found(wanted.alphas.size(),
                                                          std::vector<std::vector<Measured>>(rules.size()));
    for (std::size_t draw = 0; draw < draws; ++draw) {
        Random random(7, 0x76616C6964, draw);
        std::vector<std::size_t> deck(images.count());
        std::iota(deck.begin(), deck.end(), std::size_t{0});
        const std::size_t taken = wanted.images + wanted.test_images;
        for (std::size_t i = 0; i < taken; ++i) std::swap(deck[i], deck[i + random.below(deck.size() - i)]);
        const auto middle = deck.begin() + static_cast<std::ptrdiff_t>(wanted.images);
        const Dataset calibration = images.take({deck.begin(), middle});
        const TestScores test(images.take({middle, deck.begin() + static_cast<std::ptrdiff_t>(taken)}));
        for (std::size_t r = 0; r < rules.size(); ++r) {
            if (static_cast<double>(draw) >= rules[r].share * static_cast<double>(draws)) continue;
            const Calibrator calibrator = calibrate(calibration, rules[r].options);
            for (std::size_t a = 0; a < wanted.alphas.size(); ++a)
                found[a][r].push_back(measure(calibrator, wanted.alphas[a], test, ring));
        }
        if ((draw + 1) % 10 == 0) fmt::print(stderr, "{} of {} draws\n", draw + 1, draws);
    }
    bool kept = true;
    fmt::print("{} calibration and {} test images a draw, of {}\n", wanted.images, wanted.test_images,
               images.count());
    for (std::size_t a = 0; a < wanted.alphas.size(); ++a) {
        fmt::print(
            "\nalpha = {}\n\n| rule | draws | image (sd) | all pixels (sd) | {} | promised of | kept | |\n"
            "|---|---|---|---|---|---|---|---|\n",
            wanted.alphas[a], fmt::join(kRingNames, " / "));
        for (std::size_t r = 0; r < rules.size(); ++r)
            kept = print_row(rules[r], wanted.alphas[a], found[a][r]) && kept;
    }
    return kept;
}

Wanted parse(int argc, char** argv) {
    Wanted wanted;
    const auto number = [&](int& i) {
        if (i + 1 >= argc) throw Error(ErrorKind::usage, fmt::format("{} needs a value", argv[i]));
        return std::string(argv[++i]);
    };
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--draws")
            wanted.draws = std::stoul(number(i));
        else if (word == "--images")
            wanted.images = std::stoul(number(i));
        else if (word == "--test-images")
            wanted.test_images = std::stoul(number(i));
        else if (word == "--only")
            wanted.only = number(i);
        else if (word == "--skip")
            wanted.skip = number(i);
        else if (word == "--quick")
            wanted.quick = true;
        else if (word == "--alphas") {
            wanted.alphas.clear();
            std::string list = number(i);
            for (std::size_t at = 0; at <= list.size();) {
                const std::size_t end = std::min(list.find(',', at), list.size());
                wanted.alphas.push_back(std::stod(list.substr(at, end - at)));
                at = end + 1;
            }
        } else if (wanted.folder.empty() && word.rfind("--", 0) != 0)
            wanted.folder = word;
        else
            throw Error(ErrorKind::usage, fmt::format("'{}' is not understood", word));
    }
    if (wanted.folder.empty())
        throw Error(ErrorKind::usage,
                    "usage: validity FOLDER [--draws 200] [--images 50] [--test-images 150] "
                    "[--alphas 0.05,0.1,0.2] [--only NAME] [--skip NAME] [--quick]");
    return wanted;
}
}  // namespace

int main(int argc, char** argv) try {
    return run(parse(argc, argv)) ? 0 : 1;
} catch (const kandinsky::Error& error) {
    fmt::print(stderr, "validity: {}\n", error.what());
    return static_cast<int>(error.kind());
} catch (const std::exception& error) {
    fmt::print(stderr, "validity: {}\n", error.what());
    return 2;
}
