#include "io/folder/label_slices.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "io/folder/folder_dataset.hpp"
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

TEST(LabelSlices, PaddingOfMasksHasClass0) {
    ItemInfo info = one_row();
    FolderOptions options;
    options.fit = {GridFit::Kind::centre, {1, 4}};
    options.padding = Padding::background;
    const auto padded = [&](std::size_t planes, const std::vector<std::uint8_t>& masks) {
        info.planes = planes;
        const LabelRules rules =
            label_rules(options, planes, 1, [&](std::size_t) -> const ItemInfo& { return info; });
        const LabelSlices slices(info, Array::copy_of(masks, {1, planes, 1, 2}), rules);
        std::vector<std::uint8_t> out(planes * 4);
        slices.read(0, reinterpret_cast<std::byte*>(out.data()));
        return out;
    };
    EXPECT_EQ(padded(2, {0, 1, 1, 1}), (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1, 1, 0}));
    EXPECT_EQ(padded(1, {1, 1}), (std::vector<std::uint8_t>{0, 1, 1, 0}));  // the mask of class 1
}

TEST(LabelSlices, PaddingOfMasksCannotBeIgnored) {
    const ItemInfo info = one_row();
    const auto rules = [&](std::size_t planes, std::uint32_t width) {
        FolderOptions options;
        options.fit = {GridFit::Kind::centre, {1, width}};
        return label_rules(options, planes, 1, [&](std::size_t) -> const ItemInfo& { return info; });
    };
    expect_error(ErrorKind::usage, {"masks have no ignored pixels", "`padding background`"},
                 [&] { (void)rules(3, 4); });
    EXPECT_EQ(rules(0, 4).pad, 255);
    EXPECT_EQ(rules(3, 2).pad, 0);  // nothing is padded
}

}  // namespace
}  // namespace kandinsky
