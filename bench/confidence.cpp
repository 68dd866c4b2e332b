// Checks how often a guarantee with a confidence holds, over many draws of calibration groups from real
// outputs.
//
//   confidence FOLDER SET [--draws 200] [--groups N] [--test N] [--alphas 0.05,0.1,0.2] [--confidence 0.95]
//                         [--risk recall] [--method field] [--stride S]
//
// FOLDER holds SET_probs.npy, SET_labels.npy and, where images belong together, SET_groups.npy. Each draw
// takes N random groups to calibrate on and others to test on. --confidence 0: the guarantee on average, for
// comparison; --stride: every S-th pixel in both directions, to save time. The program prints for every class
// except 0:
//
//   risk    what alpha bounds, as the mean over test groups and then over draws: the share of the class's
//           pixels that the sets miss (recall), or, among the pixels whose set contains the class, the share
//           with another label (precision)
//   above   the share of draws whose risk exceeds alpha. The test groups are a sample too, so some draws
//           exceed alpha by chance, and the share tends to be too high
//   share   share of all test pixels with the class in their set
//   none    draws in which no threshold qualified; these keep the guarantee
//
// KEPT: the number of draws above alpha is consistent with the guarantee: P(Bin(draws, 1 - confidence) >=
// number) is at least 1 %. The exit status is 1 if a row is not KEPT. Sets are measured before empty sets are
// filled.
#include <fmt/format.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <filesystem>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <numeric>

#include "arguments.hpp"
#include "core/base/random.hpp"
#include "thinned.hpp"

namespace {
using namespace kandinsky;

struct Wanted {
    std::string folder, set, method = default_method();
    std::size_t draws = 200, groups = 100, test = 300, stride = 1;
    double confidence = 0.95;
    Risk risk = Risk::recall;
    std::vector<double> alphas{0.05, 0.1, 0.2};
};

/// The figures of one class in one draw: means over test groups.
struct Figures {
    double missed = 0, wrong = 0, share = 0;
};

/// The figures of every class; those of classes for which no threshold qualifies are NaN.
std::vector<Figures> judge(const Calibrator& calibrator, double alpha, const Dataset& test) {
    const std::size_t pixels = test.grid().pixels(), classes = test.classes();
    const auto kept = [&](std::size_t c) {
        return calibrator.risks.empty() || alpha >= calibrator.risks[c].least_alpha - 1e-12;
    };
    // Predictor refuses an alpha that a class cannot keep. In the copy such a class has no limit, so
    // Predictor accepts the alpha. The class then has no figures.
    Calibrator lenient = calibrator;
    for (std::size_t c = 0; c < lenient.risks.size(); ++c)
        if (!kept(c)) lenient.risks[c] = {.least_alpha = 0, .rungs = {}};
    const Predictor predictor(lenient, alpha, EmptySets::keep);
    std::vector<float> probs(classes * pixels);
    std::vector<std::uint8_t> sets(classes * pixels), member(classes * pixels), valid(pixels);
    struct Counts {
        double right = 0, held = 0, in = 0, all = 0;
    };
    std::map<std::pair<std::size_t, std::uint32_t>, Counts> by_group;
    for (std::size_t image = 0; image < test.images(); ++image) {
        test.read_probs(image, {0, pixels}, probs);
        test.read_truth(image, {0, pixels}, member, valid);
        predictor.sets(probs, sets);
        for (std::size_t c = 1; c < classes; ++c) {
            Counts& own = by_group[{c, test.group_of(image)}];
            for (std::size_t p = 0; p < pixels; ++p) {
                if (valid[p] == 0) continue;
                const std::size_t i = c * pixels + p;
                own.right += member[i], own.held += member[i] & sets[i], own.in += sets[i], own.all += 1;
            }
        }
    }
    std::vector<Figures> out(classes);
    std::vector<double> groups(classes), with(classes);
    for (const auto& [who, own] : by_group) {
        Figures& to = out[who.first];
        groups[who.first] += 1, with[who.first] += own.right > 0;
        if (own.right > 0) to.missed += 1 - own.held / own.right;
        if (own.in > 0) to.wrong += 1 - own.held / own.in;
        to.share += own.in / own.all;
    }
    for (std::size_t c = 1; c < classes; ++c)
        out[c] = kept(c)
                     ? Figures{out[c].missed / with[c], out[c].wrong / groups[c], out[c].share / groups[c]}
                     : Figures{NAN, NAN, NAN};
    return out;
}

/// [alpha, class] the figures of the draws.
using Found = std::map<std::pair<double, std::size_t>, std::vector<Figures>>;

void make_draw(const Wanted& wanted, const Dataset& all, std::size_t draw, Found& found) {
    Random random(11, 0x636F6E66, draw);
    std::vector<std::uint32_t> deck(all.groups()), place(all.groups());
    std::iota(deck.begin(), deck.end(), 0u);
    for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[random.below(i)]);
    for (std::uint32_t i = 0; i < deck.size(); ++i) place[deck[i]] = i;
    std::vector<std::uint32_t> cal, test;
    for (std::uint32_t image = 0; image < all.images(); ++image) {
        const std::size_t at = place[all.group_of(image)];
        if (at < wanted.groups + wanted.test) (at < wanted.groups ? cal : test).push_back(image);
    }
    CalibrateOptions options;
    options.method.name = wanted.method;
    options.confidence = wanted.confidence;
    options.risk = wanted.risk;
    // The groups that learn and the order of the tests follow from identities and the seed, so each draw has
    // its own seed.
    options.seed = draw;
    const Calibrator calibrator = calibrate(all.subset(cal), options);
    const Dataset judges = all.subset(test);
    for (const double alpha : wanted.alphas) {
        const std::vector<Figures> own = judge(calibrator, alpha, judges);
        for (std::size_t c = 1; c < own.size(); ++c) found[{alpha, c}].push_back(own[c]);
    }
}

bool print(const Wanted& wanted, const Found& found) {
    bool all_kept = true;
    fmt::print(
        "{}: {} calibration groups a draw, method {}, confidence {}\n\n"
        "| alpha | class | bounded | draws | risk | above | share | none | "
        "|\n|---|---|---|---|---|---|---|---|---|\n",
        wanted.set, wanted.groups, wanted.method, wanted.confidence);
    for (const auto& [what, draws] : found)
        for (const bool recall : {true, false}) {
            if (wanted.risk == (recall ? Risk::precision : Risk::recall)) continue;
            double risk = 0, share = 0, judged = 0;
            std::size_t above = 0;
            for (const Figures& one : draws) {
                const double own = recall ? one.missed : one.wrong;
                if (std::isnan(own)) continue;
                risk += own, share += one.share, judged += 1;
                above += own > what.first;
            }
            const auto count = static_cast<double>(draws.size());
            const double chance = above == 0 ? 1
                                             : boost::math::cdf(boost::math::complement(
                                                   boost::math::binomial(count, 1 - wanted.confidence),
                                                   static_cast<double>(above) - 1));
            const bool kept = wanted.confidence == 0 || chance >= 0.01;
            all_kept = all_kept && kept;
            const auto mean = [&](double sum) {
                return judged > 0 ? fmt::format("{:.4f}", sum / judged) : "-";
            };
            fmt::print("| {} | {} | {} | {} | {} | {:.3f} | {} | {} | {} |\n", what.first, what.second,
                       recall ? "recall" : "precision", draws.size(), mean(risk),
                       static_cast<double>(above) / count, mean(share), count - judged,
                       wanted.confidence == 0 ? ""
                       : kept                 ? "KEPT"
                                              : "BROKEN");
        }
    return all_kept;
}

bool run(const Wanted& wanted) {
    const RealOutputs from = read_outputs(wanted.folder, wanted.set, wanted.stride);
    const Dataset all(from.probs, from.labels, from.groups);
    Found found;
    for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
        make_draw(wanted, all, draw, found);
        if ((draw + 1) % 20 == 0) fmt::print(stderr, "{} of {} draws\n", draw + 1, wanted.draws);
    }
    return print(wanted, found);
}

Wanted parse(int argc, char** argv) {
    Wanted wanted;
    Arguments given(argc, argv);
    given.take("--draws", wanted.draws);
    given.take("--groups", wanted.groups);
    given.take("--test", wanted.test);
    given.take("--stride", wanted.stride);
    given.take("--confidence", wanted.confidence);
    given.take("--method", wanted.method);
    given.take("--alphas", wanted.alphas);
    if (std::string risk; given.take("--risk", risk)) wanted.risk = risk_of(risk);
    const auto& words = given.rest(2, "confidence FOLDER SET [--draws 200] [--groups N] [--test N] ...");
    wanted.folder = words[0], wanted.set = words[1];
    return wanted;
}
}  // namespace

int main(int argc, char** argv) try {
    return run(parse(argc, argv)) ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "confidence: {}\n", error.what());
    return 2;
}
