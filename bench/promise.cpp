// Measures whether the guarantee is kept, and its price: leave-one-out, split and no guarantee on real
// outputs.
//
//   promise FOLDER SET [--draws 200] [--groups N] [--test N] [--alphas 0.05,0.1,0.2] [--only loo]
//                      [--split F] [--stride S] [--log FILE [--part K/N]]
//
// FOLDER holds SET_probs.npy, SET_labels.npy and, where images belong together, SET_groups.npy. Each draw
// takes N random groups to calibrate on and others to test on, so that the two are exchangeable by
// construction, and calibrates by each rule with the default method and score. --split: the share of the
// groups that learns under that rule; --stride: every S-th pixel in both directions, to save time. Class 0 is
// not calibrated. --log: the figures of each draw are appended to FILE, and draws that are in FILE already
// are skipped, so a run can be continued. With --part K/N (K from 0) a process makes every N-th draw, and the
// logs of N processes can be concatenated. The program prints for every other class, as means over draws:
//
//   coverage     the mean over test groups of the share of their pixels of the class that are covered, which
//                is guaranteed to be at least 1 - alpha; the excess is coverage - (1 - alpha) minus the mean
//                of 1/(calibration groups with the class + 1)
//   place error  the mean over pixels with at least 3 test samples of |coverage there - (1 - alpha)|
//   floor        the place error by chance alone: with coverage 1 - alpha at every pixel and independent
//                samples
//   false share  share of the test pixels with another label whose set contains the class
//
// KEPT: mean + 2.33 sd / sqrt(draws) of the coverage is at least 1 - alpha (one-sided, 1 %). The exit status
// is 1 if a rule with a guarantee is not KEPT. Sets are measured before filling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <kandinsky/kandinsky.hpp>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "arguments.hpp"
#include "core/base/random.hpp"
#include "thinned.hpp"

namespace {
using namespace kandinsky;

struct Wanted {
    std::string folder, set, only, log;
    std::size_t draws = 200, groups = 50, test = 150, stride = 1, part = 0, parts = 1;
    double split = 0;
    std::vector<double> alphas{0.05, 0.1, 0.2};
};

/// The figures of one class in one draw.
struct Figures {
    double coverage = 0, place_error = 0, false_share = 0;
};

class Counts {
  public:
    Counts(std::size_t classes, std::size_t pixels)
        : pixels_(pixels),
          covered_(classes * pixels),
          seen_(classes * pixels),
          others_(classes),
          wrong_(classes) {}

    void add(std::uint32_t group, const std::vector<std::uint8_t>& sets,
             const std::vector<std::uint8_t>& member, const std::vector<std::uint8_t>& valid) {
        for (std::size_t i = 0; i < sets.size(); ++i) {
            const std::size_t c = i / pixels_;
            if (valid[i % pixels_] == 0) continue;
            if (member[i] == 0) {
                others_[c] += 1, wrong_[c] += sets[i];
                continue;
            }
            covered_[i] += sets[i], seen_[i] += 1;
            auto& [in, all] = by_group_[{c, group}];
            in += sets[i], all += 1;
        }
    }

    [[nodiscard]] Figures of(std::size_t c, double alpha) const {
        Figures out;
        double groups = 0, places = 0;
        for (const auto& [who, share] : by_group_)
            if (who.first == c) out.coverage += share.first / share.second, groups += 1;
        for (std::size_t p = c * pixels_; p < (c + 1) * pixels_; ++p)
            if (seen_[p] >= 3) out.place_error += std::abs(covered_[p] / seen_[p] - (1 - alpha)), places += 1;
        return {out.coverage / groups, out.place_error / places, wrong_[c] / others_[c]};
    }

  private:
    std::size_t pixels_;
    std::vector<double> covered_, seen_, others_, wrong_;
    std::map<std::pair<std::size_t, std::uint32_t>, std::pair<double, double>> by_group_;
};

std::vector<Figures> judge(const Calibrator& calibrator, double alpha, const Dataset& test) {
    const std::size_t pixels = test.grid().pixels(), classes = test.classes();
    const Predictor predictor(calibrator, alpha, EmptySets::keep);
    Counts counts(classes, pixels);
    std::vector<float> probs(classes * pixels);
    std::vector<std::uint8_t> sets(classes * pixels), member(classes * pixels), valid(pixels);
    for (std::size_t image = 0; image < test.images(); ++image) {
        test.read_probs(image, {0, pixels}, probs);
        test.read_truth(image, {0, pixels}, member, valid);
        predictor.sets(probs, sets);
        counts.add(test.group_of(image), sets, member, valid);
    }
    std::vector<Figures> out;
    for (std::size_t c = 0; c < classes; ++c) out.push_back(counts.of(c, alpha));
    return out;
}

struct Mean {
    double mean = 0, sd = 0;
};

Mean mean_of(const std::vector<Figures>& draws, double Figures::*what) {
    Mean out;
    const auto n = static_cast<double>(draws.size());
    for (const Figures& one : draws) out.mean += one.*what / n;
    for (const Figures& one : draws) out.sd += (one.*what - out.mean) * (one.*what - out.mean);
    out.sd = draws.size() > 1 ? std::sqrt(out.sd / (n - 1)) : 0;
    return out;
}

/// [alpha, class, rule] -> the figures of the draws, by their numbers.
using Found = std::map<std::tuple<double, std::size_t, std::string>, std::map<std::size_t, Figures>>;

/// Adds the figures of a log and returns the draws that are complete.
std::set<std::size_t> read_log(std::istream&& in, Found& found) {
    std::set<std::size_t> done;
    std::string word, rule;
    std::size_t draw = 0, c = 0;
    while (in >> word >> draw) {
        if (word == "done") done.insert(draw);
        double alpha = 0;
        Figures own;
        if (word == "figures" &&
            in >> alpha >> rule >> c >> own.coverage >> own.place_error >> own.false_share)
            found[{alpha, c, rule}][draw] = own;
    }
    return done;
}

/// The images of one draw: to calibrate on and to test on.
struct Drawn {
    std::vector<std::uint32_t> learn, test;
};

Drawn drawn(const Wanted& wanted, const Dataset& all, std::size_t draw) {
    Random random(11, 0x70726F6D, draw);
    std::vector<std::uint32_t> deck(all.groups()), place(all.groups());
    std::iota(deck.begin(), deck.end(), 0u);
    for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[random.below(i)]);
    for (std::uint32_t i = 0; i < deck.size(); ++i) place[deck[i]] = i;
    Drawn out;
    for (std::uint32_t image = 0; image < all.images(); ++image) {
        const std::size_t at = place[all.group_of(image)];
        if (at < wanted.groups + wanted.test) (at < wanted.groups ? out.learn : out.test).push_back(image);
    }
    return out;
}

/// The figures of one draw, for every rule, level and class, as lines of the log.
std::string make_draw(const Wanted& wanted, const std::vector<Promise>& rules, const Dataset& all,
                      const Dataset& judged, std::size_t draw) {
    const Drawn images = drawn(wanted, all, draw);
    const Dataset calibration = judged.subset(images.learn), judges = all.subset(images.test);
    std::string lines;
    for (const Promise rule : rules) {
        CalibrateOptions options;
        options.promise = rule;
        // The groups that learn follow from their identity and the seed. Each draw has its own seed; with one
        // seed the same groups would set the thresholds in every draw.
        if (rule == Promise::split) options.split = wanted.split, options.seed = draw;
        const Calibrator calibrator = calibrate(calibration, options);
        for (const double alpha : wanted.alphas) {
            const std::vector<Figures> own = judge(calibrator, alpha, judges);
            for (std::size_t c = 1; c < own.size(); ++c)
                if (std::isfinite(own[c].coverage))
                    lines += fmt::format("figures {} {} {} {} {} {} {}\n", draw, alpha, name_of(rule), c,
                                         own[c].coverage, own[c].place_error, own[c].false_share);
        }
    }
    return lines + fmt::format("done {}\n", draw);
}

/// The mean of |k/n - q| where k is binomial: De Moivre's formula.
double mean_deviation(std::size_t n, double q) {
    const auto count = static_cast<double>(n);
    const double least = std::floor(count * q) + 1;
    return 2 / count * least *
           std::exp(std::lgamma(count + 1) - std::lgamma(least + 1) - std::lgamma(count - least + 1) +
                    least * std::log(q) + (count - least + 1) * std::log1p(-q));
}

/// Figures of the labels of one draw: for each class 1 / (calibration groups that have it + 1), and the
/// number of pixels by their number of test samples.
struct Labelled {
    std::vector<double> at_infinity;
    std::vector<std::map<std::size_t, std::size_t>> pixels_with;

    [[nodiscard]] double floor_of(std::size_t c, double alpha) const {
        double sum = 0, places = 0;
        for (const auto& [samples, pixels] : pixels_with[c]) {
            const auto weight = static_cast<double>(pixels);
            sum += weight * mean_deviation(samples, 1 - alpha), places += weight;
        }
        return sum / places;
    }
};

Labelled look(const Dataset& all, const std::vector<std::uint8_t>& member, const Drawn& images) {
    const std::size_t pixels = all.grid().pixels(), size = all.classes() * pixels;
    std::vector<std::set<std::uint32_t>> groups(all.classes());
    for (const std::uint32_t image : images.learn)
        for (std::size_t c = 0; c < all.classes(); ++c) {
            const auto from = member.begin() + static_cast<std::ptrdiff_t>(image * size + c * pixels);
            if (std::find(from, from + static_cast<std::ptrdiff_t>(pixels), 1) !=
                from + static_cast<std::ptrdiff_t>(pixels))
                groups[c].insert(all.group_of(image));
        }
    std::vector<std::size_t> seen(size);
    for (const std::uint32_t image : images.test)
        for (std::size_t i = 0; i < size; ++i) seen[i] += member[image * size + i];
    Labelled out;
    out.pixels_with.resize(all.classes());
    for (std::size_t i = 0; i < size; ++i)
        if (seen[i] >= 3) ++out.pixels_with[i / pixels][seen[i]];
    for (const auto& with : groups) out.at_infinity.push_back(1.0 / static_cast<double>(with.size() + 1));
    return out;
}

/// [image][class][pixel]: whether the pixel has the class.
std::vector<std::uint8_t> members(const Dataset& data) {
    const std::size_t pixels = data.grid().pixels(), size = data.classes() * pixels;
    std::vector<std::uint8_t> member(data.images() * size), valid(pixels);
    for (std::size_t image = 0; image < data.images(); ++image) {
        data.read_truth(image, {0, pixels}, std::span(member).subspan(image * size), valid);
        for (std::size_t i = 0; i < size; ++i) member[image * size + i] &= valid[i % pixels];
    }
    return member;
}

bool print(const Wanted& wanted, const Found& found, const Dataset& all, const char* unit) {
    bool kept = true;
    fmt::print(
        "{}: {} calibration and up to {} test {} a draw\n\n| alpha | class | rule | draws | coverage (sd) | "
        "excess | place error (floor) | false share | |\n|---|---|---|---|---|---|---|---|---|\n",
        wanted.set, wanted.groups, wanted.test, unit);
    const std::vector<std::uint8_t> member = members(all);
    std::map<std::size_t, Labelled> labelled;
    for (const auto& [what, by_draw] : found)
        for (const auto& [draw, own] : by_draw)
            if (!labelled.contains(draw)) labelled[draw] = look(all, member, drawn(wanted, all, draw));
    for (const auto& [what, by_draw] : found) {
        const auto& [alpha, c, rule] = what;
        std::vector<Figures> draws;
        double unavoidable = 0, chance = 0;
        for (const auto& [draw, own] : by_draw) {
            draws.push_back(own);
            unavoidable += labelled[draw].at_infinity[c], chance += labelled[draw].floor_of(c, alpha);
        }
        const auto count = static_cast<double>(draws.size());
        const Mean coverage = mean_of(draws, &Figures::coverage);
        const double wish = 1 - alpha, upper = coverage.mean + 2.33 * coverage.sd / std::sqrt(count);
        const bool promises = rule != name_of(Promise::none), good = upper >= wish;
        kept = kept && (good || !promises);
        fmt::print("| {} | {} | {} | {} | {:.4f} ({:.4f}) | {:+.4f} | {:.4f} ({:.4f}) | {:.4f} | {} |\n",
                   alpha, c, rule, draws.size(), coverage.mean, coverage.sd,
                   coverage.mean - wish - unavoidable / count, mean_of(draws, &Figures::place_error).mean,
                   chance / count, mean_of(draws, &Figures::false_share).mean,
                   !promises ? ""
                   : good    ? "KEPT"
                             : "BROKEN");
    }
    return kept;
}

bool run(const Wanted& wanted) {
    const RealOutputs from = read_outputs(wanted.folder, wanted.set, wanted.stride);
    const Dataset all(from.probs, from.labels, from.groups);
    DatasetOptions others;
    others.ignore = {255, 0};
    const Dataset judged(from.probs, from.labels, from.groups, others);
    std::vector<Promise> rules;
    for (const Promise rule : {Promise::leave_one_out, Promise::split, Promise::none})
        if (std::string(name_of(rule)).find(wanted.only) != std::string::npos) rules.push_back(rule);
    Found found;
    const std::set<std::size_t> done = read_log(std::ifstream(wanted.log), found);
    for (std::size_t draw = wanted.part; draw < wanted.draws; draw += wanted.parts) {
        if (done.contains(draw)) continue;
        const std::string lines = make_draw(wanted, rules, all, judged, draw);
        read_log(std::istringstream(lines), found);
        if (!wanted.log.empty()) std::ofstream(wanted.log, std::ios::app) << lines << std::flush;
        if ((draw + 1) % 10 == 0) fmt::print(stderr, "{} of {} draws\n", draw + 1, wanted.draws);
    }
    read_log(std::ifstream(wanted.log), found);
    return print(wanted, found, all, all.grouped() ? "groups" : "images");
}

Wanted parse(int argc, char** argv) {
    Wanted wanted;
    Arguments given(argc, argv);
    given.take("--draws", wanted.draws);
    given.take("--groups", wanted.groups);
    given.take("--test", wanted.test);
    given.take("--stride", wanted.stride);
    given.take("--split", wanted.split);
    given.take("--only", wanted.only);
    given.take("--log", wanted.log);
    given.take("--alphas", wanted.alphas);
    if (std::string part; given.take("--part", part))
        wanted.part = std::stoul(part), wanted.parts = std::stoul(part.substr(part.find('/') + 1));
    const auto& words =
        given.rest(2, "promise FOLDER SET [--draws 200] [--groups N] [--test N] [--alphas ...]");
    wanted.folder = words[0], wanted.set = words[1];
    return wanted;
}
}  // namespace

int main(int argc, char** argv) try {
    return run(parse(argc, argv)) ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "promise: {}\n", error.what());
    return 2;
}
