#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

#include "calibrate/nested_sets.hpp"

namespace kandinsky {

/// The losses of groups at every step of nested sets, for one stratum. Groups stand in an order by who they
/// are and a seed, which tells nothing about their losses, and never by position.
struct GroupLosses {
    std::uint64_t with_class = 0;  ///< groups that have the class: those of `missed`
    /// [step][group that has the class] the share of its pixels of the class that are not in their sets.
    std::vector<double> missed;
    std::uint64_t groups = 0;  ///< all of them: those of `wrong`
    /// [step][group] of the pixels with the class in their set, the share without the class in truth; 0 where
    /// there is no such pixel. Empty unless asked for.
    std::vector<double> wrong;

    [[nodiscard]] std::span<const double> missed_at(std::size_t step) const {
        return std::span(missed).subspan(step * with_class, with_class);
    }
    [[nodiscard]] std::span<const double> wrong_at(std::size_t step) const {
        return std::span(wrong).subspan(step * groups, groups);
    }
};

/// Hands the losses of every stratum to `body(stratum, losses)`, some strata in one walk over the data, as
/// the memory allows: 4 bytes for each group, step and kind of loss. Ranks sum up; all get everything. Shares
/// are rounded up to multiples of 2^-24.
void each_stratum_losses(const Dataset& data, const NestedSets& sets, bool with_wrong,
                         const std::function<void(std::size_t, const GroupLosses&)>& body,
                         Progress& progress);

}  // namespace kandinsky
