#pragma once

#include <kandinsky/calibrator.hpp>

namespace kandinsky {

/// The rule in effect for a calibrator, `fill` or `keep`: resolves EmptySets::automatic. Throws a usage error
/// for `fill` if precision is guaranteed.
[[nodiscard]] EmptySets empty_rule(EmptySets wanted, const Calibrator& calibrator);

}  // namespace kandinsky
