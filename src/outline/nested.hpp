#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kandinsky::outline {

/// Nested sets for each group: a larger threshold gives a larger set.
struct Family {
    /// [group] the smallest threshold whose set holds what it must; +inf where none does. A group of several
    /// parts has one for each of them, and what counts is the share of its parts that are missed.
    std::vector<std::vector<double>> truth;
    /// The size of a group's set at a threshold, or minus the size of its complement. Needs no label.
    std::function<double(std::size_t group, double threshold)> size;
};

/// One family and the threshold of its sets.
struct Level {
    std::size_t family = 0;
    double threshold = 0;
};

/// What is promised of the set of a new group: it holds what it must with probability at least 1 - alpha (of
/// several parts: misses at most alpha of them in the mean). On average over the draws of the calibration
/// groups; or, with a confidence above 0, which groups of several parts do not have, in at least that share
/// of the draws.
struct Assurance {
    double alpha = 0.1, confidence = 0;

    /// The same for each of two sets, so that both together have it.
    [[nodiscard]] Assurance halved() const { return {alpha / 2, confidence > 0 ? (1 + confidence) / 2 : 0}; }
};

/// Throws a usage error for values out of range.
void check(const Assurance& wanted);

/// The smallest number of groups for which a finite threshold keeps the promise.
[[nodiscard]] std::size_t least_groups(const Assurance& wanted);

/// [group] whether it helps to choose a family, rather than to set the threshold: a fifth of the groups, or
/// more where at least 20 / alpha others are left; at most 100. Drawn by `keys` (what the groups are, not
/// where they stand) and the seed; none where too few would be left, or too few would choose.
[[nodiscard]] std::vector<bool> choosers(std::vector<std::uint64_t> keys, const Assurance& wanted,
                                         std::uint64_t seed);

/// A threshold that keeps the promise if the groups are exchangeable (with a confidence: independent draws);
/// +inf where there are too few groups. `choosing` groups leave family `plain` for the one whose sets are
/// smallest for them at their own thresholds, on average over nine levels from alpha / 2 to 2 alpha, if that
/// saves 5 % / sqrt(groups that choose) at least, and the others set the threshold; where none chooses, all
/// groups set it.
[[nodiscard]] Level conformal_level(std::span<const Family> families, const Assurance& wanted,
                                    const std::vector<bool>& choosing, std::size_t plain = 0);

}  // namespace kandinsky::outline
