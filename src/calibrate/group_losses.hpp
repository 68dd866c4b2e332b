#pragma once

#include <functional>
#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <vector>

#include "calibrate/nested_sets.hpp"

namespace kandinsky {

/// The losses of groups at every step of nested sets, for one stratum. The order of groups follows from their
/// identity and a seed, never from their position or their losses.
struct GroupLosses {
    std::uint64_t with_class = 0;  ///< number of groups that have the class, as in `missed`
    /// [step][group that has the class] among its pixels of the class, the share whose set lacks the class.
    std::vector<double> missed;
    std::uint64_t groups = 0;  ///< number of all groups, as in `wrong`; 0 unless that is requested
    /// [step][group] among the pixels whose set contains the class, the share whose true label is another; 0
    /// if there is no such pixel. Empty unless requested.
    std::vector<double> wrong;

    [[nodiscard]] std::span<const double> missed_at(std::size_t step) const {
        return std::span(missed).subspan(step * with_class, with_class);
    }
    [[nodiscard]] std::span<const double> wrong_at(std::size_t step) const {
        return std::span(wrong).subspan(step * groups, groups);
    }
};

/// Calls body(stratum, losses) for every stratum. One pass over the data serves as many strata as memory
/// allows: 4 bytes for each group, step and kind of loss. The losses of all ranks are combined, and every
/// rank gets all of them. Shares are rounded up to multiples of 2^-24.
void each_stratum_losses(const Dataset& data, const NestedSets& sets, bool with_wrong,
                         const std::function<void(std::size_t, const GroupLosses&)>& body,
                         Progress& progress);

}  // namespace kandinsky
