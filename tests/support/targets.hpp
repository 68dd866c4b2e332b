#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace kandinsky::test {

/// Calls body once for every vector unit of this machine, with the library set to that unit.
template <class Body>
void for_each_target(Body&& body) {
    const std::int64_t supported = hwy::SupportedTargets();
    int tried = 0;
    for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
        const std::int64_t target = rest & -rest;
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
        SCOPED_TRACE(hwy::TargetName(target));
        body();
        ++tried;
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
    EXPECT_GT(tried, 0);
}

}  // namespace kandinsky::test
