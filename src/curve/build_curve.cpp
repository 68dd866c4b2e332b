#include "curve/build_curve.hpp"
#include "curve/conformal_rank.hpp"

#include <cmath>

#include "curve/score_key.hpp"

namespace kandinsky {

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
}

CurvePlan CurvePlan::of_scores(std::uint64_t n, const CurveRule& rule) {
    CurvePlan plan;
    const std::vector<double>& levels = rule.ladder.levels;
    plan.targets.reserve(most_targets(rule));
    if (rule.released) {
        for (const double level : levels) {
            const auto below = static_cast<std::uint64_t>(level * static_cast<double>(n - 1));
            plan.targets.push_back(below + 1);
            plan.targets.push_back(std::min(below + 2, n));
        }
        return plan;
    }
    plan.complete = n <= levels.size();
    if (plan.complete)
        for (std::uint64_t rank = 1; rank <= n; ++rank) plan.targets.push_back(rank);
    else
        for (const double level : levels) plan.targets.push_back(conformal_rank(n, 1 - level));
    return plan;
}

CurvePlan CurvePlan::of_groups(std::uint64_t n, const GroupMass& there, const CurveRule& rule) {
    CurvePlan plan;
    const std::vector<double>& levels = rule.ladder.levels;
    // If each group has one score and all groups have equal weight, all scores have equal weight.
    plan.complete = rule.weights == nullptr && there.groups == n && n <= levels.size();
    if (plan.complete) {
        for (std::uint64_t rank = 1; rank <= n; ++rank)
            plan.targets.push_back(static_cast<Weight>(rank) * kGroupWeight);
        return plan;
    }
    // Exceeds the share of a group's weight that rounding can lose, for up to 4e7 scores in the group. With
    // more scores, a threshold can be a few scores too high.
    constexpr double kSlack = 1e-11;
    const double whole = static_cast<double>(there.mass) / static_cast<double>(kGroupWeight) + 1;
    plan.targets.reserve(levels.size());
    for (const double level : levels) {
        const double wanted = level * whole * (1 - kSlack);  // in groups
        const double full = std::floor(wanted);
        plan.targets.push_back(static_cast<Weight>(full) * kGroupWeight +
                               static_cast<Weight>((wanted - full) * static_cast<double>(kGroupWeight)));
    }
    return plan;
}

std::vector<std::uint32_t> plain_ranks(std::uint64_t n, const CurveRule& rule) {
    const bool grouped = rule.pooling == Pooling::groups;
    const CurvePlan plan =
        grouped ? CurvePlan::of_groups(n, GroupMass::alike(n), rule) : CurvePlan::of_scores(n, rule);
    std::vector<std::uint32_t> ranks;
    ranks.reserve(plan.targets.size());
    for (const Weight target : plan.targets) {
        const Weight rank = plain_rank(target, grouped);
        ranks.push_back(rank <= n ? static_cast<std::uint32_t>(rank) - (rank > 0) : kNoRank);
    }
    return ranks;
}

void CurvePlan::read(const CurveRule& rule, std::uint64_t n, std::span<const float> found,
                     std::vector<float>& values) const {
    if (!rule.released) {
        values.assign(found.begin(), found.end());
        return;
    }
    for (std::size_t l = 0; l < rule.ladder.levels.size(); ++l)
        values.push_back(
            static_cast<float>(interpolated_quantile(n, rule.ladder.levels[l], [&](std::size_t k) -> double {
                return found[2 * l + (k + 1 > static_cast<std::uint64_t>(targets[2 * l]) ? 1 : 0)];
            })));
}

CurveSet::Curve build_curve(std::span<const std::uint32_t> keys, const CurveRule& rule) {
    return build_planned_curve(keys.size(), {}, false, rule, [&](Weight rank) {
        return rank <= keys.size() ? score_of(keys[static_cast<std::size_t>(rank) - (rank > 0)]) : kInf;
    });
}

CurveSet::Curve build_group_curve(std::span<const std::uint64_t> pairs, std::vector<std::uint32_t>& sizes,
                                  const CurveRule& rule) {
    GroupMass there;
    for (const std::uint64_t pair : pairs) {
        const std::size_t group = pair & 0xFFFFFFFFu;
        if (sizes[group]++ > 0) continue;
        ++there.groups;
        there.mass += rule.weight(group);
    }
    Weight reached = 0;
    std::size_t next = 0;
    CurveSet::Curve curve = build_planned_curve(pairs.size(), there, true, rule, [&](Weight target) {
        while (next < pairs.size() && reached < target) {
            const std::size_t group = pairs[next++] & 0xFFFFFFFFu;
            reached += rule.weight(group) / sizes[group];
        }
        // If `reached` is below the target, it is the weight of all scores.
        return reached >= reachable(target, reached, there, rule)
                   ? score_of(static_cast<std::uint32_t>(pairs[next - (next > 0)] >> 32))
                   : kInf;
    });
    for (const std::uint64_t pair : pairs) sizes[pair & 0xFFFFFFFFu] = 0;
    return curve;
}

}  // namespace kandinsky
