#pragma once

#include <cstdint>
#include <kandinsky/curve.hpp>
#include <limits>
#include <span>
#include <vector>

namespace kandinsky {

/// How sorted scores become a curve.
struct CurveRule {
    Pooling pooling = Pooling::pixels;
    Ladder ladder;
    bool released = false;  ///< linear interpolation at the ladder's levels instead of conformal ranks
    /// [group of the data] weight of each group, at most kGroupWeight; null: every group has that weight.
    const std::vector<std::uint64_t>* weights = nullptr;

    [[nodiscard]] std::uint64_t weight(std::size_t group) const;
};

/// A weight or a sum of weights. Weights are integers, so the order of addition has no effect. The sum over
/// many groups needs more than 64 bits.
__extension__ using Weight = unsigned __int128;
/// The weight of a group if all groups have equal weight, otherwise that of GroupWeights::bound. A group of m
/// scores loses fewer than m units to rounding: its scores weigh floor(weight / m) each.
inline constexpr std::uint64_t kGroupWeight = std::uint64_t{1} << 62;
inline std::uint64_t CurveRule::weight(std::size_t group) const {
    return weights != nullptr ? (*weights)[group] : kGroupWeight;
}

/// The number of groups that have scores in a pixel or region, and the sum of their weights.
struct GroupMass {
    std::uint64_t groups = 0;
    Weight mass = 0;

    /// The mass of so many groups, each of weight kGroupWeight.
    [[nodiscard]] static GroupMass alike(std::uint64_t groups) {
        return {groups, static_cast<Weight>(groups) * kGroupWeight};
    }
};

/// The order statistics of n scores that a curve consists of. Each is the smallest score such that the scores
/// up to it have at least a target weight. The target is a rank if every score has weight 1; otherwise it is
/// a sum of group weights (CurveRule::weight). All ways to find order statistics (sorting, counting) use this
/// plan, so they agree to the bit.
struct CurvePlan {
    bool complete = false;
    std::vector<Weight> targets;  ///< ascending unless the rule is `released`; if the scores weigh less, the
                                  ///< score is +inf (see reachable())

    /// Every score has weight 1. If the rule is `released`, n is not 0.
    [[nodiscard]] static CurvePlan of_scores(std::uint64_t n, const CurveRule& rule);
    /// The scores of a group share its weight equally, and the weight kGroupWeight is at +inf.
    [[nodiscard]] static CurvePlan of_groups(std::uint64_t n, const GroupMass& there, const CurveRule& rule);
    /// The largest number of targets of a plan, for any number of scores.
    [[nodiscard]] static std::size_t most_targets(const CurveRule& rule) {
        return rule.ladder.levels.size() * (rule.released ? 2 : 1);
    }
    /// The values of the curve from the scores found for the targets.
    void read(const CurveRule& rule, std::uint64_t n, std::span<const float> found,
              std::vector<float>& values) const;
};

/// The rank of +inf.
inline constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();
/// Whether a curve of n scores of equal weight stores all of them, because there are no more scores than
/// rungs. For rules that are not `released`.
[[nodiscard]] inline bool plain_complete(std::uint64_t n, const CurveRule& rule) {
    return n <= rule.ladder.levels.size();
}
/// The ranks, from 0, of the values of a curve of n scores of equal weight; kNoRank for +inf. n is below
/// 2^32 - 1. For rules that are not `released`.
[[nodiscard]] std::vector<std::uint32_t> plain_ranks(std::uint64_t n, const CurveRule& rule);

/// Quantile by linear interpolation between the order statistics at(0) .. at(n - 1) (numpy's default rule), n
/// not 0.
template <class At>
[[nodiscard]] double interpolated_quantile(std::size_t n, double level, At&& at) {
    const double place = level * static_cast<double>(n - 1);
    const auto below = static_cast<std::size_t>(place);
    const double low = at(below);
    if (below + 1 >= n) return low;
    const double high = at(below + 1);
    return low + (high - low) * (place - static_cast<double>(below));
}

/// A curve from ascending keys; all scores have the same weight.
[[nodiscard]] CurveSet::Curve build_curve(std::span<const std::uint32_t> keys, const CurveRule& rule);

/// A curve by the hierarchical quantile from ascending (key, group) pairs. Group i has weight 1/(G+1), which
/// its scores share equally, and 1/(G+1) is at +inf. With weights w in the rule, these are w_i/(sum + bound)
/// and bound/(sum + bound). `sizes` is scratch with an entry for each group number, zero on entry and on
/// return. Weights are integers, so the order of equal scores has no effect.
[[nodiscard]] CurveSet::Curve build_group_curve(std::span<const std::uint64_t> pairs,
                                                std::vector<std::uint32_t>& sizes, const CurveRule& rule);

/// The weight to search for. This is the target, unless groups of equal weight reach it but their scores do
/// not, because rounding makes them lighter. Then it is `scores`, the weight of all scores, and the largest
/// score is found. Otherwise the threshold of the highest possible level would be +inf if groups have more
/// than 4e7 scores. No level becomes too low, because no score exceeds the threshold. If the rule has
/// weights, the target stays, because scores of groups of small weight can weigh 0.
[[nodiscard]] inline Weight reachable(Weight target, Weight scores, const GroupMass& there,
                                      const CurveRule& rule) {
    return rule.weights == nullptr && target > scores && target <= there.mass ? scores : target;
}

/// A curve of n scores; if `grouped`, the scores of a group share its weight. Calls find(target) for each
/// target of the plan in turn; it returns the target's score, or +inf if the total weight is smaller.
template <class Find>
[[nodiscard]] CurveSet::Curve build_planned_curve(std::uint64_t n, const GroupMass& there, bool grouped,
                                                  const CurveRule& rule, Find&& find) {
    CurveSet::Curve curve{.scores = n, .groups = grouped ? there.groups : 0, .complete = false, .values = {}};
    if (n == 0) return curve;
    const CurvePlan plan = grouped ? CurvePlan::of_groups(n, there, rule) : CurvePlan::of_scores(n, rule);
    curve.complete = plan.complete;
    std::vector<float> found;
    found.reserve(plan.targets.size());
    for (const Weight target : plan.targets) found.push_back(find(target));
    plan.read(rule, n, found, curve.values);
    return curve;
}

/// The rank, from 1, of a target if every score has weight 1, or if every group has one score and weight
/// kGroupWeight. The target 0 has the rank 0.
[[nodiscard]] inline Weight plain_rank(Weight target, bool grouped) {
    // With one score per group, the k-th score is the first to reach a target in (k - 1, k] group weights.
    return grouped ? (target + (kGroupWeight - 1)) / kGroupWeight : target;
}

/// A curve from the order statistics at(0) .. at(n - 1), given as scores. The rule's pooling decides whether
/// all scores have the same weight or each is a group. The result equals that of the functions above.
template <class At>
[[nodiscard]] CurveSet::Curve build_plain_curve(std::size_t n, const CurveRule& rule, At&& at) {
    const bool grouped = rule.pooling == Pooling::groups && !rule.released;
    return build_planned_curve(n, GroupMass::alike(n), grouped, rule, [&](Weight target) {
        const Weight rank = plain_rank(target, grouped);
        return rank <= n ? at(static_cast<std::size_t>(rank) - (rank > 0))
                         : std::numeric_limits<float>::infinity();
    });
}

}  // namespace kandinsky
