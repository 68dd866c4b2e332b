#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/progress.hpp>
#include <string>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// The weights of calibration groups if new groups come from another population. A group's weight says how
/// much more common groups like it are in the new population. docs/shift.md has the rule and the guarantee.
struct GroupWeights {
    /// One weight for each row of the data set's arrays; row i is image i, except in a subset. Finite, at
    /// least 0, equal within a group; a common factor has no effect. Empty: all groups have equal weight.
    std::vector<double> of_row{};
    /// The largest possible weight of a new group; larger weights are reduced to it. 0: the largest of the
    /// weights.
    double bound = 0;
    std::string learnt{};  ///< how they were learnt, as JSON; empty: they were given

    [[nodiscard]] bool none() const { return of_row.empty(); }  ///< all groups have equal weight
};

/// The summary of the weights of the groups that set the thresholds, which a calibrator stores.
struct Weighting {
    std::uint64_t groups = 0;  ///< number of these groups; 0: all had equal weight
    double effective = 0;      ///< (sum of weights)^2 / sum of their squares
    double at_infinity = 0;    ///< bound / (sum of weights + bound): below this alpha every set is full
    double least = 0;          ///< the smallest weight, in units of the bound
    std::string learnt{};      ///< as in GroupWeights

    [[nodiscard]] bool none() const { return groups == 0; }  ///< all groups had equal weight
};

/// Learns weights from new images without labels, in any order: ridge logistic regression between calibration
/// and new groups on mean ImageFeatures. Cross-validation chooses the ridge; without a shift, weights are 1.
/// Weights are scaled to mean 1 over calibration groups, then clipped at `most` and at their 90 % quantile
/// over new groups (at 1 if the quantile is smaller). Throws a data error if grids or classes differ or a
/// data set has fewer than 10 groups, a usage error if only one data set has groups or `most` is infinite or
/// below 1.
[[nodiscard]] GroupWeights learn_weights(const Dataset& calibration, const Dataset& fresh, double most = 10,
                                         Progress& progress = silent());

}  // namespace kandinsky
