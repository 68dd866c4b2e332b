#include "core/base/attempt.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kandinsky {
namespace {

TEST(Attempt, OutOfMemoryHasTheKindOfTheCommandAndNeedsNoMemory) {
    const Result<int> made = attempt([]() -> int { throw std::bad_alloc(); });
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind(), ErrorKind::file);
    // The text is that of the error that was made at the start; a new error would have a text of its own.
    EXPECT_EQ(static_cast<const void*>(made.error().what()), static_cast<const void*>(kOutOfMemory.what()));
}

TEST(Attempt, OtherErrorsKeepTheirText) {
    const Result<int> wrong = attempt([]() -> int { throw Error(ErrorKind::data, "image 3 is bad"); });
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind(), ErrorKind::data);
    EXPECT_EQ(wrong.error().what(), std::string("image 3 is bad"));
    const Result<int> strange = attempt([]() -> int { throw std::runtime_error("strange"); });
    ASSERT_FALSE(strange);
    EXPECT_EQ(strange.error().kind(), ErrorKind::internal);
    EXPECT_EQ(strange.error().what(), std::string("strange"));
    EXPECT_EQ(attempt([] { return 7; }).value(), 7);
}

}  // namespace
}  // namespace kandinsky
