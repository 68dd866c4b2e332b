#include "io/folder/label_slices.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;

ItemInfo one_row() {
    ItemInfo info;
    info.name = std::string("a");
    info.path = "a.npy";
    info.slices = info.height = 1;
    info.width = 2;
    return info;
}

TEST(LabelSlices, ALabelThatIsNoWholeNumberOf32BitsIsNamed) {
    const auto refuse = [](double label, const std::vector<std::string>& parts) {
        const LabelSlices slices(one_row(), Array::copy_of(std::vector{0.0, label}, {1, 1, 2}), {});
        expect_error(ErrorKind::data, parts, [&] { (void)slices.look(0); });
    };
    refuse(0.5, {"a.npy: label 0.5 at slice 0, row 0, column 1 is not a whole number"});
    refuse(std::numeric_limits<double>::quiet_NaN(), {"column 1 is not a whole number"});
    refuse(3e9, {"label 3000000000 at", "column 1 is outside -2147483648 to 2147483647"});
    refuse(-3e9, {"column 1 is outside"});
    const LabelSlices widest(one_row(), Array::copy_of(std::vector{-2147483648.0, 2147483647.0}, {1, 1, 2}),
                             {});
    EXPECT_TRUE(widest.look(0).wide);
}

}  // namespace
}  // namespace kandinsky
