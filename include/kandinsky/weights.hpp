#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/progress.hpp>
#include <string>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// The weights of calibration groups, if new groups come from another population: how much more common groups
/// like it are there. docs/shift.md has the rule and the guarantee.
struct GroupWeights {
    /// One weight for each row of the data set's arrays, which is its image unless it is a subset. Finite, at
    /// least 0, equal within a group; a common factor has no effect. Empty: all groups have equal weight.
    std::vector<double> of_row{};
    /// The largest weight of a new group; larger weights are reduced to it. 0: the largest of the weights.
    double bound = 0;
    std::string learnt{};  ///< how they were learnt, as JSON; empty: they were given

    [[nodiscard]] bool none() const { return of_row.empty(); }  ///< all groups count alike
};

/// The summary of the weights of the groups that set the thresholds, which a calibrator stores.
struct Weighting {
    std::uint64_t groups = 0;  ///< how many there are; 0: all counted alike
    double effective = 0;      ///< (sum of weights)^2 / sum of their squares
    double at_infinity = 0;    ///< bound / (sum of weights + bound): below this alpha every set is full
    double least = 0;          ///< of the weights, where the bound is 1
    std::string learnt{};      ///< as in GroupWeights

    [[nodiscard]] bool none() const { return groups == 0; }  ///< all groups counted alike
};

/// Learns weights from new images without labels: ridge logistic regression between the calibration groups'
/// features (those of --adapt image, the mean over a group's images) and the new groups'. The ridge is chosen
/// by cross-validation; all weights are 1 where that finds no difference. Weights are clipped at `most` times
/// their mean. The result depends on the multisets of groups only. Throws a data error where grids or classes
/// differ, and where one of the two has groups and the other has none.
[[nodiscard]] GroupWeights learn_weights(const Dataset& calibration, const Dataset& fresh, double most = 10,
                                         Progress& progress = silent());

}  // namespace kandinsky
