#include "io/file/file_lock.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::spill;

TEST(FileLock, IsHeldByOneAtATimeAndLeavesNothing) {
    const Folder folder;
    const std::filesystem::path state = folder / "stream.state";
    {
        const FileLock first(state);
        EXPECT_TRUE(std::filesystem::exists(folder / "stream.state.lock"));
        expect_error(ErrorKind::file, {"stream.state is in use by another process"},
                     [&] { const FileLock second(state); });
        const FileLock other(folder / "other.state");
    }
    EXPECT_EQ(folder.entries(), 0u);
    const FileLock again(state);
}

TEST(FileLock, OfAKilledProcessDoesNotCount) {
    const Folder folder;
    spill(folder / "stream.state.lock", "");
    const FileLock lock(folder / "stream.state");
}

TEST(FileLock, NeedsAFolderThatCanBeWritten) {
    const Folder folder;
    expect_error(ErrorKind::file, {"cannot write", "stream.state.lock"},
                 [&] { const FileLock lock(folder / "missing/stream.state"); });
}

TEST(FileLock, OfALinkIsThatOfItsFile) {
    const Folder folder;
    std::filesystem::create_directory(folder / "elsewhere");
    std::filesystem::create_symlink("elsewhere/stream.state", folder / "link");
    std::filesystem::create_symlink("link", folder / "link_of_link");
    for (const bool dangling : {true, false}) {
        if (!dangling) spill(folder / "elsewhere/stream.state", "state");
        const FileLock lock(folder / "link_of_link");
        EXPECT_TRUE(std::filesystem::exists(folder / "elsewhere/stream.state.lock"));
        for (const char* const name : {"link", "elsewhere/stream.state"})
            expect_error(ErrorKind::file, {name, "is in use by another process"},
                         [&] { const FileLock second(folder / name); });
    }
    EXPECT_EQ(folder.entries(), 3u);
}

}  // namespace
}  // namespace kandinsky
