// Measures the monitor on streams of real outputs: how often it raises an alarm without a change, and how
// soon after a change.
//
//   monitor FOLDER SET [--reference 100] [--streams 1000] [--length 500] [--shifted 100] [--out DIR]
//
// FOLDER holds SET_cal_probs.npy, SET_test_probs.npy, labels of both and, for sets with patients, groups. All
// images (patients) are one pool, from which reference and stream are drawn without replacement. The outputs
// of the stream stay unchanged, or change from its first image on:
//
//   odds      the odds of every class except the first fall to a quarter
//   blur      three passes of a 3 x 3 mean over the probabilities
//   noise     independent normal noise of standard deviation 1 on the logarithms
//   contrast  logarithms times 0.7
//   half      only the first half of every patient's slices: another field of view, outputs untouched
//   other     SET_other_probs.npy, if it exists: another network's outputs for the test images
//
// The alarm for outputs and, with all labels, the alarm for odds are measured. Features are computed once.
// --out DIR stores the p-values of every stream and feature of the outputs for bench/monitor.py.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <filesystem>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <numeric>

#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "monitor/state.hpp"
#include "score/shortfall.hpp"
#include "score/watched.hpp"

namespace {
using namespace kandinsky;
namespace fs = std::filesystem;

constexpr double kDelta = 0.01;

struct Pool {
    Array probs[2], labels[2], groups[2], other;
    Grid grid;
    std::size_t classes = 0;

    [[nodiscard]] std::size_t rows(std::size_t part) const { return probs[part].shape()[0]; }
};

Pool load_pool(const std::string& folder, const std::string& set) {
    Pool pool;
    for (const std::size_t part : {0, 1}) {
        const std::string stem = folder + "/" + set + (part == 0 ? "_cal" : "_test");
        pool.probs[part] = read_npy(stem + "_probs.npy");
        pool.labels[part] = read_npy(stem + "_labels.npy");
        if (fs::exists(stem + "_groups.npy")) pool.groups[part] = read_npy(stem + "_groups.npy");
    }
    if (const fs::path other = folder + "/" + set + "_other_probs.npy"; fs::exists(other))
        pool.other = read_npy(other);
    const std::vector<std::size_t>& shape = pool.probs[0].shape();
    pool.classes = shape[1];
    pool.grid = {static_cast<std::uint32_t>(shape[2]), static_cast<std::uint32_t>(shape[3])};
    return pool;
}

void softmax(std::vector<float>& logs, std::size_t classes) {
    const std::size_t pixels = logs.size() / classes;
    for (std::size_t p = 0; p < pixels; ++p) {
        float most = logs[p], sum = 0;
        for (std::size_t c = 1; c < classes; ++c) most = std::max(most, logs[c * pixels + p]);
        for (std::size_t c = 0; c < classes; ++c)
            sum += logs[c * pixels + p] = std::exp(logs[c * pixels + p] - most);
        for (std::size_t c = 0; c < classes; ++c) logs[c * pixels + p] /= sum;
    }
}

void change(const std::string& kind, Grid grid, std::size_t classes, std::uint64_t image,
            std::vector<float>& probs) {
    const std::size_t pixels = grid.pixels();
    if (kind == "blur") {
        std::vector<float> from;
        for (int pass = 0; pass < 3; ++pass) {
            from = probs;
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t y = 0; y < grid.height; ++y)
                    for (std::size_t x = 0; x < grid.width; ++x) {
                        float sum = 0;
                        for (int dy = -1; dy <= 1; ++dy)
                            for (int dx = -1; dx <= 1; ++dx) {
                                const auto yy = std::clamp<std::int64_t>(static_cast<std::int64_t>(y) + dy, 0,
                                                                         grid.height - 1),
                                           xx = std::clamp<std::int64_t>(static_cast<std::int64_t>(x) + dx, 0,
                                                                         grid.width - 1);
                                sum += from[c * pixels + static_cast<std::size_t>(yy * grid.width + xx)];
                            }
                        probs[c * pixels + y * grid.width + x] = std::min(1.0f, sum / 9);
                    }
        }
        return;
    }
    if (kind == "none" || kind == "half" || kind == "other") return;
    Random random(1, 2, image);
    for (std::size_t i = 0; i < probs.size(); ++i) {
        float& p = probs[i];
        p = std::log(std::max(p, 1e-6f));
        if (kind == "odds" && i >= pixels) p -= std::log(4.0f);
        if (kind == "noise") p += static_cast<float>(random.normal());
        if (kind == "contrast") p *= 0.7f;
    }
    softmax(probs, classes);
}

/// Numbers of every unit (image or group), [unit][number]; NaN where a unit lacks the number.
using Numbers = std::vector<std::vector<float>>;

struct Units {
    Numbers features, shortfalls;
};

constexpr std::size_t kShares = Reference::kShares.size();

/// The features and shortfalls of every unit.
Units units_of(const Pool& pool, const Reference& layout, const std::string& kind) {
    Units units;
    const std::size_t classes = layout.labelled.size(), pixels = pool.grid.pixels();
    for (const std::size_t part : {0, 1}) {
        if (kind == "other" && part == 0) continue;
        const Dataset data(kind == "other" ? pool.other : pool.probs[part], pool.labels[part],
                           pool.groups[part]);
        std::vector<std::vector<std::int64_t>> odds(data.images(),
                                                    std::vector<std::int64_t>(classes * (1 + kShares)));
        std::vector<std::vector<std::int64_t>> looks(data.images(),
                                                     std::vector<std::int64_t>(layout.features()));
        parallel_for(data.images(), [&](std::size_t i) {
            std::vector<float> probs(pool.classes * pool.grid.pixels());
            data.read_probs(i, {0, pool.grid.pixels()}, probs);
            change(kind, pool.grid, pool.classes, part * 1000000 + i, probs);
            watch_image(layout, pool.grid, probs, looks[i]);
            std::vector<std::uint8_t> truth(pool.classes * pixels + pixels);
            data.read_truth(i, {0, pixels}, truth, std::span(truth).subspan(pool.classes * pixels));
            for (std::size_t c = 0; c < classes; ++c)
                odds[i][c] = shortfalls(probs.data() + layout.labelled[c] * pixels,
                                        std::span(truth).subspan(layout.labelled[c] * pixels, pixels),
                                        std::span(odds[i]).subspan(classes + c * kShares, kShares));
        });
        std::vector<std::vector<std::int64_t>> odds_sums(data.groups(),
                                                         std::vector<std::int64_t>(classes * (1 + kShares)));
        std::vector<std::vector<std::int64_t>> sums(data.groups(),
                                                    std::vector<std::int64_t>(layout.features()));
        std::vector<std::int64_t> images(data.groups()), all(data.groups());
        for (std::size_t i = 0; i < data.images(); ++i) ++all[data.group_of(i)];
        for (std::size_t i = 0; i < data.images(); ++i) {
            const std::size_t group = data.group_of(i);
            if (kind == "half" && 2 * images[group] >= all[group]) continue;
            ++images[group];
            for (std::size_t f = 0; f < layout.features(); ++f) sums[group][f] += looks[i][f];
            for (std::size_t n = 0; n < odds[i].size(); ++n) odds_sums[group][n] += odds[i][n];
        }
        for (std::size_t g = 0; g < sums.size(); ++g) {
            std::vector<float>& unit = units.features.emplace_back();
            for (const std::int64_t sum : sums[g]) unit.push_back(watched_value(sum, images[g]));
            std::vector<float>& own = units.shortfalls.emplace_back();
            for (std::size_t n = 0; n < classes * kShares; ++n)
                own.push_back(odds_sums[g][n / kShares] > 0
                                  ? watched_value(odds_sums[g][classes + n], odds_sums[g][n / kShares])
                                  : std::nanf(""));
        }
    }
    return units;
}

/// One stream: when the alarm is raised (0: never), and the p-values [number][unit] if requested.
template <class Betting>
std::size_t run_stream(const std::vector<double>& weights,
                       const std::vector<const std::vector<float>*>& reference,
                       const std::vector<const std::vector<float>*>& stream, std::uint64_t seed,
                       std::vector<double>* p_values) {
    std::size_t rang = 0;
    for (std::size_t f = 0; f < weights.size(); ++f) {
        std::vector<float> values;
        for (const auto* unit : reference)
            if (!std::isnan((*unit)[f])) values.push_back((*unit)[f]);
        std::sort(values.begin(), values.end());
        RankBag bag(std::move(values));
        Betting bets;
        for (std::size_t t = 0; t < stream.size(); ++t) {
            if (std::isnan((*stream[t])[f])) continue;
            const double p = bag.rank_and_keep((*stream[t])[f], Random(seed, f, t), 2048);
            if (p_values != nullptr) p_values->push_back(p);
            bets.bet(p);
            if (bets.log_value + std::log(weights[f]) >= -std::log(kDelta) && (rang == 0 || t + 1 < rang))
                rang = t + 1;
        }
    }
    return rang;
}

std::string median(std::vector<std::size_t> delays, std::size_t never) {
    for (std::size_t& one : delays) one = one == 0 ? never : one;
    std::sort(delays.begin(), delays.end());
    const std::size_t middle = delays[delays.size() / 2];
    return middle >= never ? "never" : std::to_string(middle);
}

std::vector<std::uint32_t> drawn(std::size_t all, std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(all);
    std::iota(order.begin(), order.end(), 0u);
    Random random(seed, 5);
    for (std::size_t i = 0; i < count; ++i) std::swap(order[i], order[i + random.below(all - i)]);
    order.resize(count);
    return order;
}

std::vector<const std::vector<float>*> picked(const Numbers& from, const std::vector<std::uint32_t>& order,
                                              std::size_t first, std::size_t last, std::size_t skipped = 0) {
    std::vector<const std::vector<float>*> out;
    for (std::size_t i = first; i < last; ++i) out.push_back(&from[order[i] - skipped]);
    return out;
}

void print_false_alarms(const char* what, const std::vector<std::size_t>& rang, std::size_t length,
                        std::size_t reference, double delta) {
    const auto alarms = static_cast<std::size_t>(
        std::count_if(rang.begin(), rang.end(), [](std::size_t r) { return r > 0; }));
    const boost::math::binomial law(static_cast<double>(rang.size()), delta);
    fmt::print(
        "without a change, {}: {} alarms in {} streams of {} units (reference {}, delta {}); P(at least this "
        "many | delta) = {:.3f}\n",
        what, alarms, rang.size(), length, reference, delta,
        alarms == 0 ? 1.0 : cdf(complement(law, static_cast<double>(alarms) - 1)));
}

std::string delay_text(const std::vector<std::size_t>& delays) {
    const auto found = std::count_if(delays.begin(), delays.end(), [](std::size_t d) { return d > 0; });
    return fmt::format("{}, {} of {} streams found", median(delays, 1000000), found, delays.size());
}

void streams(const Pool& pool, std::map<std::string, std::string>& options) {
    const auto number = [&](const char* name) { return std::stoul(options.at(name)); };
    Reference layout = watch_layout(pool.grid, pool.classes, true, {});
    layout.labelled = labelled_classes(layout, pool.classes);
    const std::vector<double> weights = feature_weights(layout);
    const std::size_t odds = layout.labelled.size() * kShares;
    const std::vector<double> odds_weights(odds, 0.5 / static_cast<double>(odds));  // half of delta
    const Units plain = units_of(pool, layout, "none");
    const std::size_t all = plain.features.size(), reference = number("--reference");
    const std::size_t length = std::min(number("--length"), all - reference);
    const std::size_t count = number("--streams");
    std::vector<std::size_t> rang(count), odds_rang(count);
    parallel_for(count, [&](std::size_t s) {
        const auto order = drawn(all, reference + length, s);
        const std::size_t end = reference + length;
        rang[s] = run_stream<Bets>(weights, picked(plain.features, order, 0, reference),
                                   picked(plain.features, order, reference, end), s, nullptr);
        odds_rang[s] = run_stream<RiseBets>(odds_weights, picked(plain.shortfalls, order, 0, reference),
                                            picked(plain.shortfalls, order, reference, end), s, nullptr);
    });
    print_false_alarms("outputs", rang, length, reference, kDelta);
    print_false_alarms("odds", odds_rang, length, reference, kDelta / 2);
    const std::size_t shifted = number("--shifted");
    for (const char* const kind : {"odds", "blur", "noise", "contrast", "half", "other"}) {
        if (kind == std::string("other") && pool.other.empty()) continue;
        if (kind == std::string("half") && pool.groups[0].empty()) continue;
        const Units changed = units_of(pool, layout, kind);
        const std::size_t skipped = all - changed.features.size();  // `other` has the test images only
        std::vector<std::size_t> delays(shifted), odds_delays(shifted);
        std::vector<std::vector<double>> p_values(shifted);
        parallel_for(shifted, [&](std::size_t s) {
            auto order = drawn(all, all, 100000 + s);
            if (skipped > 0)
                std::stable_partition(order.begin(), order.end(),
                                      [&](std::uint32_t i) { return i < skipped; });
            const std::size_t begin = std::max(reference, skipped), end = std::min(begin + length, all);
            delays[s] = run_stream<Bets>(weights, picked(plain.features, order, 0, reference),
                                         picked(changed.features, order, begin, end, skipped), 100000 + s,
                                         &p_values[s]);
            odds_delays[s] = run_stream<RiseBets>(odds_weights, picked(plain.shortfalls, order, 0, reference),
                                                  picked(changed.shortfalls, order, begin, end, skipped),
                                                  100000 + s, nullptr);
        });
        fmt::print("{:<9} median delay in units: outputs {}; odds {}\n", kind, delay_text(delays),
                   delay_text(odds_delays));
        if (options.count("--out") == 0) continue;
        std::vector<double> flat;
        for (const auto& one : p_values) flat.insert(flat.end(), one.begin(), one.end());
        write_npy(
            options["--out"] + "/p_" + kind + ".npy",
            Array::copy_of(flat, {shifted, layout.features(), flat.size() / shifted / layout.features()})
                .view());
        std::vector<double> own;
        for (const std::size_t d : delays) own.push_back(static_cast<double>(d));
        write_npy(options["--out"] + "/delay_" + kind + ".npy", Array::copy_of(own, {own.size()}).view());
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options{
        {"--reference", "100"}, {"--streams", "1000"}, {"--length", "500"}, {"--shifted", "100"}};
    for (int i = 3; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    if (argc < 3) {
        fmt::print(stderr, "usage: monitor FOLDER SET [options]; see bench/monitor.cpp\n");
        return 2;
    }
    streams(load_pool(argv[1], argv[2]), options);
    return 0;
}
