#include "io/file/input_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::spill;
namespace fs = std::filesystem;

/// A file that is clearly older than any change to come.
void spill_long_ago(const fs::path& path, const std::string& text) {
    spill(path, text);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(InputWatch, AnUnchangedFileIsFineAndAChangedOneIsNamed) {
    const Folder folder;
    spill_long_ago(folder / "a", "one");
    spill_long_ago(folder / "b", "two");
    const InputWatch watch;
    (void)map_file(folder / "a");
    (void)map_file(folder / "b");
    EXPECT_NO_THROW(watch.check());
    spill(folder / "b", "TWO");
    expect_error(ErrorKind::file, {"b changed while it was being read"}, [&] { watch.check(); });
    expect_error(ErrorKind::file, {"changed"}, [&] { (void)map_file(folder / "b"); });
}

TEST(InputWatch, AReplacedFileIsAChangeAndARemovedOneIsNot) {
    const Folder folder;
    spill_long_ago(folder / "a", "one");
    spill_long_ago(folder / "new", "one");
    const InputWatch watch;
    (void)map_file(folder / "a");
    fs::rename(folder / "new", folder / "a");
    expect_error(ErrorKind::file, {"changed"}, [&] { watch.check(); });
    fs::remove(folder / "a");
    EXPECT_NO_THROW(watch.check());
}

TEST(InputWatch, AChangeWithinTheClocksStepOfTheWritingIsSeen) {
    const Folder folder;
    for (int i = 0; i < 10; ++i) {
        spill(folder / "a", "one");
        const InputWatch watch;
        (void)map_file(folder / "a");
        spill(folder / "a", "two");
        EXPECT_ANY_THROW(watch.check());
    }
}

TEST(InputWatch, WithoutOneNothingIsRemembered) {
    const Folder folder;
    spill_long_ago(folder / "a", "one");
    {
        const InputWatch watch;
        (void)map_file(folder / "a");
    }
    spill(folder / "a", "two");
    EXPECT_NO_THROW((void)map_file(folder / "a"));
    const InputWatch fresh;
    EXPECT_NO_THROW(fresh.check());
}

TEST(Printable, TextStaysAndControlCharactersAndInvalidBytesAreEscaped) {
    EXPECT_EQ(printable("a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
              "a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    EXPECT_EQ(printable("\x1b[2J\n\x7f"), "\\x1b[2J\\x0a\\x7f");
    EXPECT_EQ(printable("\xC2\x9B"
                        "2J"),
              "\\xc2\\x9b2J");
    EXPECT_EQ(printable("\xE5r\xFF\xC3"), "\\xe5r\\xff\\xc3");
    EXPECT_EQ(printable("\xC0\x80\xED\xA0\x80\xF4\x90\x80\x80"),
              "\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
}

}  // namespace
}  // namespace kandinsky
