#pragma once

#include <functional>
#include <span>
#include <vector>

namespace kandinsky::outline {

/// Nested sets for each group: the larger the threshold, the larger the set.
struct Family {
    /// [group] the smallest threshold whose set holds what it must; +inf where none does.
    std::vector<double> truth;
    /// How large the set of a group is at a threshold. Needs no label.
    std::function<double(std::size_t group, double threshold)> size;
};

/// The set of a new group is the union of the sets of these families at these thresholds.
struct Level {
    std::size_t family = 0;
    double threshold = 0;
};

/// Groups below which alpha allows no finite threshold: of one family, or of a choice among several.
[[nodiscard]] std::size_t least_groups(double alpha, bool choosing);

/// Thresholds with P(the set of a new group holds what it must) >= 1 - alpha if the groups are exchangeable.
/// Among several families the one with the smallest sets is chosen anew without each group, and the union
/// over these choices is taken (docs/questions.md has the proof); usually all agree and the union is one
/// family. Where there are too few groups for a choice, family `plain` is taken; too few for that: threshold
/// +inf.
[[nodiscard]] std::vector<Level> conformal_levels(std::span<const Family> families, double alpha,
                                                  std::size_t plain = 0);

}  // namespace kandinsky::outline
