// Measures whether outlines and intervals keep their guarantee, and how large they are, over draws of groups.
//
//   questions FOLDER SET [--draws 200] [--groups N] [--test N] [--alpha 0.1] [--shares 0.95,0.99,1]
//   [--volumes] [--stride S] [--classes 1,2] [--objects 0,0.5] [--only outlines|objects|measures]
//
// FOLDER holds SET_probs.npy, SET_labels.npy and, where images belong together, SET_groups.npy. Each draw
// takes --groups random groups to calibrate on and --test others to test on, so that the two are exchangeable
// by construction. The scores and features of a group are computed once. --volumes: the images of a group are
// the slices of a volume; --stride: every S-th pixel in both directions. The program prints for every class
// except 0, as means over draws:
//
//   held     share of the test groups with the class whose masks (intervals) are right; the standard error
//            over draws in brackets. KEPT: held + 2.33 standard errors is at least 1 - alpha (one-sided, 1 %)
//   outer    share of the voxels in the outer mask, and its size relative to the object
//   inner    size of the inner mask relative to the object
//   found    share of a test group's objects (connected parts) that the outer mask touches (share 0), or of
//            which it contains the share; mean over groups. KEPT as above
//   width    mean width of the intervals
//
// `dilation` is the distance outside the predicted mask, as in ConSeMa. The exit status is 1 if a guarantee
// is not kept. Sizes of masks are from samples of the voxels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <kandinsky/kandinsky.hpp>
#include <numeric>

#include "arguments.hpp"
#include "core/base/random.hpp"
#include "outline/features.hpp"
#include "outline/records.hpp"
#include "thinned.hpp"

namespace {
using namespace kandinsky;
using outline::GroupFeatures;
using outline::GroupRecord;
using outline::Quantity;

struct Wanted {
    std::string folder, set;
    std::size_t draws = 200, groups = 50, test = 150, stride = 1;
    double alpha = 0.1;
    bool volumes = false;
    std::string only;
    std::vector<std::uint32_t> classes;
    std::vector<double> shares{0.95, 0.99, 1}, objects{0, 0.5};

    [[nodiscard]] bool asks(const char* what) const { return only.empty() || only == what; }
};

struct Sum {
    double held = 0, squares = 0, outer = 0, ratio = 0, inner = 0, draws = 0;
    void add(double share_held, double large, double times, double small) {
        held += share_held, squares += share_held * share_held, outer += large, ratio += times,
            inner += small;
        draws += 1;
    }
    [[nodiscard]] double mean() const { return held / draws; }
    [[nodiscard]] double error() const {
        return std::sqrt(std::max(0.0, squares / draws - mean() * mean()) / (draws - 1));
    }
    [[nodiscard]] bool kept(double alpha) const { return mean() + 2.33 * error() >= 1 - alpha; }
};

/// A random order of `n` groups, the same for every rule.
std::vector<std::size_t> shuffled(std::size_t n, std::size_t draw) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(20261117, 28, draw);
    for (std::size_t i = 0; i + 1 < n; ++i) std::swap(order[i], order[i + random.below(n - i)]);
    return order;
}

template <class T>
std::pair<std::vector<const T*>, std::vector<const T*>> deal(const std::vector<T>& all, const Wanted& wanted,
                                                             std::size_t draw) {
    std::pair<std::vector<const T*>, std::vector<const T*>> out;
    for (const std::size_t i : shuffled(all.size(), draw))
        if (out.first.size() < wanted.groups)
            out.first.push_back(&all[i]);
        else if (out.second.size() < wanted.test)
            out.second.push_back(&all[i]);
    return out;
}

void judge(const ClassOutline& rule, const std::vector<const GroupRecord*>& test,
           const std::vector<OutlineScore>& scores, bool both, Sum& to) {
    double held = 0, outer = 0, times = 0, inner = 0, n = 0;
    const auto place = [&](const OutlineLevel& by) {
        return static_cast<std::size_t>(std::find(scores.begin(), scores.end(), by.score) - scores.begin());
    };
    for (const GroupRecord* const one : test) {
        if (!one->has) continue;
        const std::size_t wide = place(rule.outer), narrow = both ? place(rule.inner) : 0;
        const bool out_ok = one->outer[wide].front() <= rule.outer.threshold;
        const bool in_ok = !both || rule.inner.threshold <= one->inner[narrow];
        const double large = one->profiles[wide].up_to(rule.outer.threshold);
        const double small = 1 - one->profiles[narrow].from(rule.inner.threshold);
        held += out_ok && in_ok, outer += large, times += large / one->object_share, n += 1;
        inner += both ? small / one->object_share : 0;
    }
    to.add(held / n, outer / n, times / n, inner / n);
}

bool run_outlines(const CaseSource& cases, const std::vector<std::uint32_t>& classes, const Wanted& wanted) {
    bool kept = true;
    const std::vector<OutlineScore> all = outline::candidates({});
    const std::size_t plain = outline::plain_candidate({});
    const auto only = [&](std::size_t k) { return std::vector<OutlineScore>{all[k]}; };
    for (const double share : wanted.shares) {
        const auto records = outline::collect_records(cases, classes, all, {.share = share}, silent());
        for (std::size_t c = 0; c < classes.size(); ++c) {
            double object = 0, have = 0;
            for (const GroupRecord& one : records[c]) object += one.object_share, have += one.has;
            fmt::print(
                "outlines of class {}, share {:g}: {} of {} groups have it, object {:.4f} of the voxels\n",
                classes[c], share, have, records[c].size(), object / have);
            const auto report = [&](const std::string& name, OutlineSides sides, const auto& rule_of) {
                Sum sum;
                for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
                    const auto [cal, test] = deal(records[c], wanted, draw);
                    judge(rule_of(cal, sides, draw), test, all, sides == OutlineSides::both, sum);
                }
                const bool fine = sum.kept(wanted.alpha);
                kept = kept && fine;
                fmt::print(
                    "  {:<6}{:<12} held {:.4f} ({:.4f}) {}  outer {:.4f} = {:.3f} x object  inner {:.3f}\n",
                    sides == OutlineSides::both ? "both" : "outer", name, sum.mean(), sum.error(),
                    fine ? "KEPT" : "BROKEN", sum.outer / sum.draws, sum.ratio / sum.draws,
                    sum.inner / sum.draws);
            };
            for (const OutlineSides sides : {OutlineSides::outer, OutlineSides::both}) {
                report("auto", sides, [&](const auto& cal, OutlineSides s, std::size_t draw) {
                    return outline::outline_of(cal, all, plain, {wanted.alpha, 0}, s, draw);
                });
                for (std::size_t k = 0; k < all.size(); ++k)
                    report(name_of(all[k]), sides, [&](const auto& cal, OutlineSides s, std::size_t draw) {
                        std::vector<GroupRecord> one;
                        std::vector<const GroupRecord*> list;
                        for (const GroupRecord* const r : cal) {
                            one.push_back({r->object_share, r->has, {}, {}, {}});
                            if (!r->outer.empty())
                                one.back() = {
                                    r->object_share, r->has, {r->outer[k]}, {r->inner[k]}, {r->profiles[k]}};
                        }
                        for (const GroupRecord& r : one) list.push_back(&r);
                        return outline::outline_of(list, only(k), 0, {wanted.alpha, 0}, s, draw);
                    });
            }
            report("dilation", OutlineSides::outer, [&](const auto& cal, OutlineSides, std::size_t) {
                std::vector<double> margins;
                for (const GroupRecord* const r : cal)
                    if (r->has) margins.push_back(std::max(0.0, r->outer[0].front()));
                std::sort(margins.begin(), margins.end());
                const auto rank = static_cast<std::size_t>(
                    std::ceil((1 - wanted.alpha) * static_cast<double>(margins.size() + 1) - 1e-9));
                ClassOutline rule;
                rule.outer = {all[0], rank > margins.size() ? INFINITY : margins[rank - 1]};
                return rule;
            });
        }
    }
    return kept;
}

/// Measures the share of a group's objects that the outer mask finds.
bool run_objects(const CaseSource& cases, const std::vector<std::uint32_t>& classes, const Wanted& wanted) {
    bool kept = true;
    const std::vector<OutlineScore> all = outline::candidates({});
    const std::size_t plain = outline::plain_candidate({});
    for (const double share : wanted.objects) {
        const auto records = outline::collect_records(cases, classes, all,
                                                      {.share = share, .per = OutlineUnit::object}, silent());
        for (std::size_t c = 0; c < classes.size(); ++c) {
            std::size_t objects = 0, have = 0, most = 0;
            for (const GroupRecord& one : records[c])
                if (one.has) {
                    objects += one.outer[0].size(), ++have;
                    most = std::max(most, one.outer[0].size());
                }
            if (have < 2 * outline::least_groups({wanted.alpha, 0})) continue;
            Sum sum;
            double groups = 0;
            for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
                const auto [cal, test] = deal(records[c], wanted, draw);
                const ClassOutline rule =
                    outline::outline_of(cal, all, plain, {wanted.alpha, 0}, OutlineSides::outer, draw);
                const auto k = static_cast<std::size_t>(std::find(all.begin(), all.end(), rule.outer.score) -
                                                        all.begin());
                double found = 0, outer = 0, times = 0, n = 0;
                for (const GroupRecord* const one : test) {
                    if (!one->has) continue;
                    double own = 0;
                    for (const double t : one->outer[k]) own += t <= rule.outer.threshold;
                    found += own / static_cast<double>(one->outer[k].size());
                    const double large = one->profiles[k].up_to(rule.outer.threshold);
                    outer += large, times += large / one->object_share, n += 1;
                }
                sum.add(found / n, outer / n, times / n, 0);
                groups += static_cast<double>(rule.groups) / static_cast<double>(wanted.draws);
            }
            const bool fine = sum.kept(wanted.alpha);
            kept = kept && fine;
            fmt::print(
                "objects of class {}, share {:g}: {} in {} groups, at most {} in one; {:.0f} groups "
                "calibrate\n  "
                "found {:.4f} ({:.4f}) {}  outer {:.4f} = {:.3f} x object\n",
                classes[c], share, objects, have, most, groups, sum.mean(), sum.error(),
                fine ? "KEPT" : "BROKEN", sum.outer / sum.draws, sum.ratio / sum.draws);
        }
    }
    return kept;
}

bool run_measures(const CaseSource& cases, const std::vector<std::uint32_t>& classes, const Wanted& wanted) {
    bool kept = true;
    const auto features = outline::collect_features(cases, classes, silent());
    for (std::size_t c = 0; c < classes.size(); ++c)
        for (const Quantity what : {Quantity::size, Quantity::dice}) {
            fmt::print("{} of class {}\n", what == Quantity::size ? "size" : "Dice", classes[c]);
            for (const MeasureBy by : {MeasureBy::quantiles, MeasureBy::predicted, MeasureBy::soft,
                                       MeasureBy::relative, MeasureBy::automatic}) {
                Sum sum;
                for (std::size_t draw = 0; draw < wanted.draws; ++draw) {
                    const auto [cal, test] = deal(features[c], wanted, draw);
                    const auto level =
                        measure_level(what, cal, outline::starts(what, by, false), {wanted.alpha, 0}, draw);
                    double held = 0, width = 0;
                    for (const GroupFeatures* const one : test) {
                        const auto [low, high] = interval_of(what, level, *one);
                        const double truth = what == Quantity::dice ? one->dice() : one->truth;
                        held += low <= truth && truth <= high, width += high - low;
                    }
                    const auto n = static_cast<double>(test.size());
                    sum.add(held / n, width / n, 0, 0);
                }
                const bool fine = sum.kept(wanted.alpha);
                kept = kept && fine;
                fmt::print("  {:<12} held {:.4f} ({:.4f}) {}  width {:.4g}\n", name_of(by), sum.mean(),
                           sum.error(), fine ? "KEPT" : "BROKEN", sum.outer / sum.draws);
            }
        }
    return kept;
}

Wanted parse(int argc, char** argv) {
    Wanted wanted;
    Arguments given(argc, argv, {"--volumes"});
    given.take("--draws", wanted.draws);
    given.take("--groups", wanted.groups);
    given.take("--test", wanted.test);
    given.take("--stride", wanted.stride);
    given.take("--alpha", wanted.alpha);
    given.take("--shares", wanted.shares);
    given.take("--only", wanted.only);
    given.take("--objects", wanted.objects);
    std::vector<double> classes;
    given.take("--classes", classes);
    for (const double cls : classes) wanted.classes.push_back(static_cast<std::uint32_t>(cls));
    wanted.volumes = given.take("--volumes");
    const auto& words =
        given.rest(2, "questions FOLDER SET [--draws 200] [--groups N] [--test N] [--volumes] ...");
    wanted.folder = words[0], wanted.set = words[1];
    return wanted;
}

bool run(const Wanted& wanted) {
    const RealOutputs from = read_outputs(wanted.folder, wanted.set, wanted.stride);
    const Dataset data(from.probs, from.labels, from.groups);
    const auto step = static_cast<double>(wanted.stride);
    const auto cases = cases_of(data, {.volumes = wanted.volumes, .spacing = {1, step, step}});
    std::vector<std::uint32_t> classes = wanted.classes;
    if (classes.empty()) {
        classes.resize(data.classes() - 1);
        std::iota(classes.begin(), classes.end(), 1u);
    }
    bool kept = true;
    if (wanted.asks("outlines")) kept = run_outlines(*cases, classes, wanted);
    if (wanted.asks("objects")) kept = run_objects(*cases, classes, wanted) && kept;
    if (wanted.asks("measures")) kept = run_measures(*cases, classes, wanted) && kept;
    return kept;
}
}  // namespace

int main(int argc, char** argv) try {
    return run(parse(argc, argv)) ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "questions: {}\n", error.what());
    return 2;
}
