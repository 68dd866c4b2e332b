#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "curve/curve_storage.hpp"

namespace kandinsky::test {

/// Expects the same curves, value by value.
inline void expect_equal(const std::vector<CurveSet>& a, const std::vector<CurveSet>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t s = 0; s < a.size(); ++s) {
        EXPECT_EQ(storage_of(a[s]).scores, storage_of(b[s]).scores);
        EXPECT_EQ(storage_of(a[s]).groups, storage_of(b[s]).groups);
        EXPECT_EQ(storage_of(a[s]).complete, storage_of(b[s]).complete);
        EXPECT_EQ(storage_of(a[s]).offsets, storage_of(b[s]).offsets);
        EXPECT_EQ(storage_of(a[s]).values, storage_of(b[s]).values);
    }
}

}  // namespace kandinsky::test
