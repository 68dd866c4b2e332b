#include "curve/group_weights.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "core/team/team.hpp"

namespace kandinsky {

namespace {
/// The bound over the groups of all ranks, because the parts of a data set must use the same one.
double bound_of(const Dataset& data, const GroupWeights& weights) {
    if (weights.bound > 0) return weights.bound;
    const double own = *std::max_element(weights.of_row.begin(), weights.of_row.end());
    std::uint64_t bits[] = {
        std::bit_cast<std::uint64_t>(own)};  // ascends with the number, which is not negative
    team_of(data).comm.max(bits);
    return std::bit_cast<double>(bits[0]);
}
}  // namespace

void check_weights(const Dataset& data, const GroupWeights& weights) {
    if (weights.none()) return;
    if (!(weights.bound >= 0) || std::isinf(weights.bound))
        fail(ErrorKind::usage, "`max_weight` is {}, but must be a finite number above 0", weights.bound);
    std::vector<std::uint32_t> first(data.groups(), std::numeric_limits<std::uint32_t>::max());
    bool some = false;
    for (std::uint32_t image = 0; image < data.images(); ++image) {
        const std::size_t row = row_of(data, image);
        if (row >= weights.of_row.size())
            fail(ErrorKind::data, "there are {} weights for at least {} images; give each image a weight",
                 weights.of_row.size(), row + 1);
        const double own = weights.of_row[row];
        if (!(own >= 0) || std::isinf(own))
            fail(ErrorKind::data, "the weight of image {} is {}, but must be finite and at least 0", image,
                 own);
        some = some || own > 0;
        std::uint32_t& leader = first[data.group_of(image)];
        if (leader == std::numeric_limits<std::uint32_t>::max()) leader = image;
        if (const double other = weights.of_row[row_of(data, leader)]; own != other)
            fail(ErrorKind::data,
                 "images {} and {} are in one group, but have the weights {} and {}; give all images of a "
                 "group one "
                 "weight",
                 leader, image, other, own);
    }
    Communicator& comm = team_of(data).comm;
    if (most(comm, some ? 1 : 0) == 0 && total(comm, data.images()) > 0)
        fail(ErrorKind::data, "all weights are 0, so no group would count");
}

std::vector<std::uint64_t> units_of_groups(const Dataset& data, const GroupWeights& weights) {
    if (weights.none()) return {};
    const double bound = bound_of(data, weights);
    std::vector<std::uint64_t> units(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image) {
        const double share = std::min(1.0, weights.of_row[row_of(data, image)] / bound);
        units[data.group_of(image)] = static_cast<std::uint64_t>(share * static_cast<double>(kGroupWeight));
    }
    return units;
}

std::vector<std::uint64_t> units_by_place(const Dataset& data, const GroupWeights& weights,
                                          const std::vector<std::uint32_t>& places, std::size_t groups) {
    if (weights.none()) return {};
    const std::vector<std::uint64_t> own = units_of_groups(data, weights);
    std::vector<std::uint64_t> units(groups);
    for (std::size_t image = 0; image < data.images(); ++image)
        units[places[image]] = own[data.group_of(image)];
    team_of(data).comm.sum(std::span(units));  // a group is whole on one rank
    return units;
}

Weighting weighting_of(const Dataset& data, const GroupWeights& weights) {
    if (weights.none()) return {};
    // Sums of integers, so ranks and the order of groups have no effect.
    constexpr unsigned kCut = 23;  // low bits dropped: sums of 2^32 squares then fit into sum_wide()
    WideCount sums[3] = {};
    std::uint64_t most_below[] = {0};  // how far the smallest weight is below the bound
    for (const std::uint64_t unit : units_of_groups(data, weights)) {
        const WideCount cut = unit >> kCut;
        sums[0] += 1;
        sums[1] += unit;
        sums[2] += cut * cut;
        most_below[0] = std::max(most_below[0], kGroupWeight - unit);
    }
    sum_wide(team_of(data).comm, std::span(sums));
    team_of(data).comm.max(most_below);
    constexpr auto kWhole = static_cast<double>(kGroupWeight);
    constexpr auto kCutWhole = static_cast<double>(kGroupWeight >> kCut);
    const double sum = static_cast<double>(sums[1]) / kWhole;
    const double squares = static_cast<double>(sums[2]) / kCutWhole / kCutWhole;
    return {.groups = static_cast<std::uint64_t>(sums[0]),
            .effective = squares > 0 ? sum * sum / squares : 0,
            .at_infinity = 1 / (1 + sum),
            .least = 1 - static_cast<double>(most_below[0]) / kWhole,
            .learnt = weights.learnt};
}

}  // namespace kandinsky
