#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kandinsky::outline {

/// Nested sets for each group: a larger threshold gives a larger set.
struct Family {
    /// [group] the smallest threshold whose set contains the target; +inf if there is none. A group of
    /// several parts has a threshold for each part; its loss is the share of the parts that are missed.
    std::vector<std::vector<double>> truth;
    /// The size of a group's set at a threshold, or minus the size of its complement. Computed without
    /// labels.
    std::function<double(std::size_t group, double threshold)> size;
};

/// One family and the threshold of its sets.
struct Level {
    std::size_t family = 0;
    double threshold = 0;
};

/// The promise for a new group: its set contains the target with probability at least 1 - alpha. If groups
/// have several parts, the set misses at most a share alpha of them on average. With confidence 0 the promise
/// holds on average over the draws of the calibration groups. With a larger confidence it holds in at least
/// this share of the draws; this is not possible for groups of several parts.
struct Assurance {
    double alpha = 0.1, confidence = 0;

    /// The promise that each of two sets must keep so that both sets together keep this promise.
    [[nodiscard]] Assurance halved() const { return {alpha / 2, confidence > 0 ? (1 + confidence) / 2 : 0}; }
};

/// Throws a usage error for values out of range.
void check(const Assurance& wanted);

/// The smallest number of groups for which a finite threshold keeps the promise; 2^53 if it is larger.
[[nodiscard]] std::size_t least_groups(const Assurance& wanted);

/// [group] whether the group helps to choose the family; the other groups set the threshold. A fifth of the
/// groups choose, or all beyond 20 / alpha groups if these are more, but at most 100. `keys` (the identity of
/// the groups, not their position) and the seed decide which. No group chooses if there are too few groups.
[[nodiscard]] std::vector<bool> choosers(std::vector<std::uint64_t> keys, const Assurance& wanted,
                                         std::uint64_t seed);

/// A threshold that keeps the promise if the groups are exchangeable (with a confidence: independent draws);
/// +inf if there are too few groups. The `choosing` groups select the family, and the others set the
/// threshold; if none choose, all groups set it. Families are compared by the mean size of their sets over
/// nine levels from alpha / 2 to 2 alpha. The family with the smallest sets is selected if it saves at least
/// 5 % / sqrt(choosing groups) compared with family `plain`; otherwise `plain` is selected.
[[nodiscard]] Level conformal_level(std::span<const Family> families, const Assurance& wanted,
                                    const std::vector<bool>& choosing, std::size_t plain = 0);

}  // namespace kandinsky::outline
