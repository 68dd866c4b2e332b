#include "model/image_reading.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::spill;

TEST(Photos, AreListedByName) {
    const Folder folder;
    for (const char* const name : {"b.jpg", "a.PNG", "c.jpeg", ".d.png", "notes.txt"})
        spill(folder / name, "");
    EXPECT_EQ(photos_of(folder.path()),
              (std::vector<std::filesystem::path>{folder / "a.PNG", folder / "b.jpg", folder / "c.jpeg"}));
    EXPECT_TRUE(photos_of(folder / "b.jpg").empty());
}

TEST(Photos, OfOneNameAreRefused) {
    const Folder folder;
    for (const char* const name : {"b.jpg", "a.png", "a.jpg"}) spill(folder / name, "");
    expect_error(ErrorKind::data, {"a.jpg and a.png have the same name"},
                 [&] { (void)photos_of(folder.path()); });
}

}  // namespace
}  // namespace kandinsky
