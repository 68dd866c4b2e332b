#include "io/file/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::slurp;
using test::spill;
namespace fs = std::filesystem;

constexpr AtomicFile::Temporary kKinds[] = {AtomicFile::Temporary::nameless, AtomicFile::Temporary::named};

TEST(AtomicFile, TheFileAppearsOnlyWithCommit) {
    for (const auto kind : kKinds) {
        const Folder folder;
        AtomicFile file(folder / "out.txt", kind);
        file.write("hello, ");
        file.write("world");
        EXPECT_EQ(file.position(), 12u);
        EXPECT_FALSE(fs::exists(folder / "out.txt"));
        file.commit();
        EXPECT_EQ(slurp(folder / "out.txt"), "hello, world");
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, WithoutCommitNothingRemainsAndTheOldContentStays) {
    for (const auto kind : kKinds) {
        const Folder folder;
        spill(folder / "old.txt", "old");
        {
            AtomicFile fresh(folder / "new.txt", kind);
            AtomicFile over(folder / "old.txt", kind);
            fresh.write(std::string(1 << 20, 'x'));
            over.write(std::string(1 << 20, 'x'));
        }
        EXPECT_EQ(slurp(folder / "old.txt"), "old");
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, OldContentIsReplacedWholeEvenByLess) {
    for (const auto kind : kKinds) {
        const Folder folder;
        spill(folder / "a", std::string(1000, 'o'));
        AtomicFile file(folder / "a", kind);
        file.commit();
        EXPECT_EQ(slurp(folder / "a"), "");
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, WritesOfEverySizeArriveInOrder) {
    const Folder folder;
    std::string expected;
    AtomicFile file(folder / "a");
    for (std::size_t i = 0; i < 40; ++i) {
        const std::string piece(i * i * i * 10 + (i % 3 == 0 ? 0 : 1), static_cast<char>('a' + i % 26));
        file.write(piece);
        expected += piece;
        EXPECT_EQ(file.position(), expected.size());
    }
    file.commit();
    EXPECT_TRUE(slurp(folder / "a") == expected);
}

TEST(AtomicFile, PermissionsFollowTheUmask) {
    for (const auto kind : kKinds) {
        for (const mode_t mask : {mode_t{022}, mode_t{077}, mode_t{0}}) {
            const Folder folder;
            const mode_t before = ::umask(mask);
            AtomicFile file(folder / "a", kind);
            file.commit();
            ::umask(before);
            struct stat status {};
            ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
            EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
        }
    }
}

TEST(AtomicFile, ASymbolicLinkStaysAndItsTargetIsReplaced) {
    for (const auto kind : kKinds) {
        const Folder folder;
        fs::create_directory(folder / "deep");
        spill(folder / "deep/real.txt", "old");
        fs::create_symlink("deep/real.txt", folder / "one");
        fs::create_symlink("one", folder / "two");
        AtomicFile file(folder / "two", kind);
        file.write("new");
        file.commit();
        EXPECT_TRUE(fs::is_symlink(folder / "two"));
        EXPECT_TRUE(fs::is_symlink(folder / "one"));
        EXPECT_FALSE(fs::is_symlink(folder / "deep/real.txt"));
        EXPECT_EQ(slurp(folder / "deep/real.txt"), "new");
    }
}

TEST(AtomicFile, ADanglingLinkGetsItsTarget) {
    const Folder folder;
    fs::create_symlink(folder / "missing", folder / "link");
    AtomicFile file(folder / "link");
    file.write("x");
    file.commit();
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(slurp(folder / "missing"), "x");
}

TEST(AtomicFile, ALoopOfLinksIsAFileError) {
    const Folder folder;
    fs::create_symlink("b", folder / "a");
    fs::create_symlink("a", folder / "b");
    expect_error(ErrorKind::file, {"Too many levels of symbolic links"},
                 [&] { AtomicFile file(folder / "a"); });
}

TEST(AtomicFile, AFullDeviceSaysSoAndIsNeverReplaced) {
    expect_error(ErrorKind::file, {"cannot write /dev/full: No space left on device"}, [] {
        AtomicFile file("/dev/full");
        file.write("x");
        file.commit();
    });
    expect_error(ErrorKind::file, {"cannot write /dev/full: No space left on device"}, [] {
        AtomicFile file("/dev/full");
        file.write(std::string(1 << 20, 'x'));
    });
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(AtomicFile, ADeviceThatCannotSyncIsNoFailure) {
    AtomicFile file("/dev/null");
    file.write("x");
    file.commit();
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, APipeIsWrittenDirectly) {
    const Folder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    const std::string content(300000, 'p');
    std::string got;
    std::thread reader([&] { got = slurp(folder / "pipe"); });
    {
        AtomicFile file(folder / "pipe");
        file.write(content);
        file.commit();
    }
    reader.join();
    EXPECT_TRUE(got == content);
    EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(AtomicFile, SignalsThatInterruptWritesLoseNothing) {
    const Folder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::string content(4 << 20, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761u >> 13);
    struct sigaction interrupting {};
    interrupting.sa_handler = [](int) {};  // and no SA_RESTART: the write returns early, or with EINTR
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &interrupting, &before), 0);
    const pthread_t writer = ::pthread_self();
    std::string got;
    std::thread reader([&] {
        std::ifstream pipe(folder / "pipe", std::ios::binary);
        std::string piece(50000, '\0');
        while (pipe.read(piece.data(), static_cast<std::streamsize>(piece.size())) || pipe.gcount() > 0) {
            got.append(piece.data(), static_cast<std::size_t>(pipe.gcount()));
            // The first signal ends a write that filled the pipe, the second finds one that could not begin.
            for (int i = 0; i < 2; ++i) {
                std::this_thread::sleep_for(std::chrono::microseconds(300));
                ::pthread_kill(writer, SIGUSR1);
            }
        }
    });
    EXPECT_NO_THROW({
        AtomicFile file(folder / "pipe");
        file.write(content);
        file.commit();
    });
    reader.join();
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    EXPECT_TRUE(got == content);
}

TEST(AtomicFile, AnOpenDescriptorByNameKeepsItsFileAndPosition) {
    const Folder folder;
    const int descriptor = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(::write(descriptor, "before ", 7), 7);
    for (const std::string prefix : {"/dev/fd/", "/proc/self/fd/"}) {
        AtomicFile file(prefix + std::to_string(descriptor));
        file.write("through ");
        file.commit();
    }
    ASSERT_EQ(::write(descriptor, "after", 5), 5);
    ::close(descriptor);
    EXPECT_EQ(slurp(folder / "log"), "before through through after");
}

TEST(AtomicFile, ImpossibleTargetsAreFileErrorsThatNameThem) {
    const Folder folder;
    spill(folder / "file", "x");
    expect_error(ErrorKind::file,
                 {"cannot write ", "none/a.npy: No such file or directory", "is there a folder"},
                 [&] { AtomicFile file(folder / "none/a.npy"); });
    expect_error(ErrorKind::file, {"Is a directory"}, [&] { AtomicFile file(folder.path()); });
    expect_error(ErrorKind::file, {"Is a directory"}, [&] { AtomicFile file(folder / "new/"); });
    expect_error(ErrorKind::file, {"file/a: Not a directory"}, [&] { AtomicFile file(folder / "file/a"); });
    expect_error(ErrorKind::file, {"No such file"}, [&] { AtomicFile file(""); });
    expect_error(ErrorKind::file, {"File name too long"},
                 [&] { AtomicFile file(folder / std::string(300, 'n')); });
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, TheLongestNameTheSystemAllowsIsFine) {
    for (const auto kind : kKinds) {
        const Folder folder;
        AtomicFile file(folder / std::string(255, 'n'), kind);
        file.commit();
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, LackOfPermissionIsAFileError) {
    const Folder folder;
    fs::create_directory(folder / "closed");
    spill(folder / "closed/old", "old");
    fs::permissions(folder.path(), fs::perms::all);
    fs::permissions(folder / "closed",
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec);
    fs::create_directory(folder / "open");
    fs::permissions(folder / "open", fs::perms::all);
    spill(folder / "open/fixed", "fixed");
    fs::permissions(folder / "open/fixed", fs::perms::owner_read | fs::perms::others_read);
    const bool root = ::geteuid() == 0;
    if (root) {
        ASSERT_EQ(::seteuid(65534), 0);
    }
    for (const auto kind : kKinds) {
        expect_error(ErrorKind::file, {"closed/new: Permission denied"},
                     [&] { AtomicFile file(folder / "closed/new", kind); });
        expect_error(ErrorKind::file, {"open/fixed: Permission denied"},
                     [&] { AtomicFile file(folder / "open/fixed", kind); });
    }
    // An unprivileged user must be able to give a nameless file its name.
    {
        AtomicFile file(folder / "open/mine");
        file.write("mine");
        file.commit();
    }
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    EXPECT_EQ(slurp(folder / "open/mine"), "mine");
    EXPECT_EQ(slurp(folder / "open/fixed"), "fixed");
    fs::permissions(folder / "closed", fs::perms::all);
}

TEST(AtomicFile, AWriteThatFailsHalfwayLeavesNothing) {
    for (const auto kind : kKinds) {
        const Folder folder;
        spill(folder / "a", "old");
        // A file size limit makes the kernel write a part of the bytes, then refuse: as a full disk does.
        rlimit before{};
        ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
        auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{.rlim_cur = 1000000, .rlim_max = before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        expect_error(ErrorKind::file, {"/a: File too large"}, [&] {
            AtomicFile file(folder / "a", kind);
            file.write(std::string(900000, 'x'));
            file.write(std::string(900000, 'y'));
            file.commit();
        });
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        std::signal(SIGXFSZ, handler);
        EXPECT_EQ(slurp(folder / "a"), "old");
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, ATargetThatBecomesAFolderMeanwhileFailsCleanly) {
    for (const auto kind : kKinds) {
        const Folder folder;
        {
            AtomicFile file(folder / "a", kind);
            file.write("x");
            fs::create_directory(folder / "a");
            expect_error(ErrorKind::file, {"/a: Is a directory"}, [&] { file.commit(); });
        }
        EXPECT_TRUE(fs::is_directory(folder / "a"));
        EXPECT_EQ(folder.entries(), 1u);
    }
}

TEST(AtomicFile, WritingAfterCommitIsAnInternalError) {
    const Folder folder;
    AtomicFile file(folder / "a");
    file.commit();
    expect_error(ErrorKind::internal, {"closed already"}, [&] { file.write("x"); });
    expect_error(ErrorKind::internal, {"closed already"}, [&] { file.commit(); });
}

}  // namespace
}  // namespace kandinsky
