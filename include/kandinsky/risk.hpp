#pragma once

#include <cstdint>
#include <kandinsky/export.hpp>
#include <string_view>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// The risk that alpha bounds, for each class and on average over groups. docs/risk.md has formulas and
/// proofs.
enum class Risk {
    recall,     ///< the false-negative rate: the share of the class's pixels that the sets miss
    precision,  ///< the false-discovery rate: among pixels whose set has the class, the share without it
    both,       ///< both, by one threshold
};
[[nodiscard]] std::string_view name_of(Risk risk);  ///< the option's words
[[nodiscard]] Risk risk_of(std::string_view name);  ///< throws a usage error for unknown words

/// The alphas that are possible for a stratum with a guarantee of precision, and where its curve is read.
struct RiskLevels {
    double least_alpha = 0;  ///< the smallest possible alpha; above 1: none is possible
    /// [rung of 1 - alpha] the rung at which the curve is read, or kNone if that alpha is not possible. Empty
    /// if larger alphas mean smaller sets, as for recall: the curve is then read at 1 - alpha.
    std::vector<std::uint32_t> rungs{};
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;  ///< no rung
};

}  // namespace kandinsky
