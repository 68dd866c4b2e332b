#include "outline/features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "outline/scores.hpp"

namespace kandinsky::outline {

namespace {
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

void add_case(const Case& one, bool volume, std::size_t cls, GroupFeatures& to) {
    const std::size_t voxels = one.extent.voxels();
    const double size = one.spacing[1] * one.spacing[2] * (volume ? one.spacing[0] : 1);
    to.voxel = to.voxel == 0 ? size : std::min(to.voxel, size);
    const std::vector<std::uint8_t> mask = predicted_mask(one, cls);
    const float* const probs = one.probs.data() + cls * voxels;
    const std::uint8_t* const member = one.member.empty() ? nullptr : one.member.data() + cls * voxels;
    std::size_t predicted = 0, sure = 0, possible = 0, truth = 0, hit = 0;
    double soft = 0, overlap = 0;
    for (std::size_t v = 0; v < voxels; ++v) {
        if (member != nullptr && one.valid[v] == 0) continue;
        const double p = probs[v];
        if (p > 0.1) soft += p;
        sure += p > 0.9;
        possible += p > 0.1;
        if (mask[v] != 0) ++predicted, overlap += p;
        if (member != nullptr && member[v] != 0) ++truth, hit += mask[v];
    }
    to.predicted += size * static_cast<double>(predicted);
    to.sure += size * static_cast<double>(sure);
    to.possible += size * static_cast<double>(possible);
    to.soft += size * soft;
    to.overlap += size * overlap;
    to.truth += size * static_cast<double>(truth);
    to.hit += size * static_cast<double>(hit);
}
}  // namespace

double GroupFeatures::expected_dice() const {
    return soft + predicted > 0 ? 2 * overlap / (soft + predicted) : 1;
}

double GroupFeatures::dice() const {
    return truth + predicted > 0 ? 2 * hit / (truth + predicted) : 1;
}

std::vector<std::vector<GroupFeatures>> collect_features(const CaseSource& cases,
                                                         const std::vector<std::uint32_t>& classes,
                                                         Progress& progress) {
    const std::vector<std::vector<std::size_t>> groups = cases.by_group();
    std::vector<std::vector<GroupFeatures>> out(classes.size(), std::vector<GroupFeatures>(groups.size()));
    parallel_for(groups.size(), progress, "measuring", [&](std::size_t g) {
        for (const std::size_t i : groups[g]) {
            if (progress.cancelled()) throw Interrupted();
            const Case one = cases.read(i);
            for (std::size_t c = 0; c < classes.size(); ++c)
                add_case(one, cases.volumes(), classes[c], out[c][g]);
        }
    });
    return out;
}

double Start::strangeness(double truth) const {
    return std::max(low - truth, truth - high) / scale;
}

std::pair<double, double> Start::widened(double t, double least, double most) const {
    if (t == kUnlimited) return {least, most};
    const double from = low - t * scale, to = high + t * scale;
    if (from > to)
        return {std::clamp((low + high) / 2, least, most), std::clamp((low + high) / 2, least, most)};
    return {std::clamp(from, least, most), std::clamp(to, least, most)};
}

std::vector<std::string> starts(Quantity what, MeasureBy by, bool hard) {
    const bool dice = what == Quantity::dice;
    if (hard && (by == MeasureBy::quantiles || by == MeasureBy::soft))
        fail(ErrorKind::usage,
             "`by {}` needs probabilities, but there are only masks; use predicted, relative or auto",
             name_of(by));
    switch (by) {
        case MeasureBy::quantiles:
            return {dice ? "expected" : "quantiles"};
        case MeasureBy::predicted:
            return {dice ? "one" : "predicted"};
        case MeasureBy::soft:
            return {dice ? "expected" : "soft"};
        case MeasureBy::relative:
            return {dice ? (hard ? "one" : "scaled") : "relative"};
        case MeasureBy::automatic:
            break;
    }
    if (hard)
        return dice ? std::vector<std::string>{"one"} : std::vector<std::string>{"predicted", "relative"};
    return dice ? std::vector<std::string>{"expected", "scaled", "skewed", "one"}
                : std::vector<std::string>{"quantiles", "predicted", "soft", "relative"};
}

Start start_of(Quantity what, const std::string& name, const GroupFeatures& of) {
    if (what == Quantity::size) {
        if (name == "quantiles") return {of.sure, of.possible, 1};
        if (name == "predicted") return {of.predicted, of.predicted, 1};
        if (name == "soft") return {of.soft, of.soft, 1};
        if (name == "relative") return {of.predicted, of.predicted, of.predicted + of.voxel};
    } else {
        const double expected = of.expected_dice();
        if (name == "expected") return {expected, expected, 1};
        if (name == "scaled") return {expected, expected, 1 - expected + 0.02};
        if (name == "skewed") return {2 * expected - 1, expected, 1};
        if (name == "one") return {1, 1, 1};
    }
    fail(ErrorKind::data, "there is no interval start '{}'", name);
}

std::pair<double, double> bounds_of(Quantity what) {
    return {0, what == Quantity::dice ? 1 : kUnlimited};
}

MeasureLevel measure_level(Quantity what, const std::vector<const GroupFeatures*>& groups,
                           const std::vector<std::string>& names, const Assurance& wanted,
                           std::uint64_t seed) {
    const auto [least, most] = bounds_of(what);
    std::vector<Family> families(names.size());
    std::vector<std::uint64_t> keys;
    keys.reserve(groups.size());
    for (const GroupFeatures* const one : groups)
        keys.push_back(mix(std::bit_cast<std::uint64_t>(one->soft)) ^
                       std::bit_cast<std::uint64_t>(one->predicted));
    for (std::size_t k = 0; k < names.size(); ++k) {
        for (const GroupFeatures* const one : groups)
            families[k].truth.push_back(
                {start_of(what, names[k], *one)
                     .strangeness(what == Quantity::dice ? one->dice() : one->truth)});
        families[k].size = [&, k, least = least, most = most](std::size_t g, double t) {
            const auto [low, high] = start_of(what, names[k], *groups[g]).widened(t, least, most);
            return high - low;
        };
    }
    const Level level = conformal_level(
        families, wanted,
        names.size() > 1 ? choosers(keys, wanted, seed) : std::vector<bool>(groups.size(), false));
    return {names[level.family], level.threshold};
}

std::pair<double, double> interval_of(Quantity what, const MeasureLevel& level, const GroupFeatures& of) {
    const auto [least, most] = bounds_of(what);
    return start_of(what, level.start, of).widened(level.threshold, least, most);
}

}  // namespace kandinsky::outline
