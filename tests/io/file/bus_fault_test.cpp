#include "io/file/bus_fault.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "io/file/atomic_file.hpp"
#include "io/file/mapped_file.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::Folder;
using test::spill;
namespace fs = std::filesystem;

/// The exit status of a copy of this process that does the work, because the handler and its records last as
/// long as the process.
int status_of(const std::function<int()>& work) {
    const pid_t copy = ::fork();
    if (copy == 0) ::_exit(work());
    int status = 0;
    ::waitpid(copy, &status, 0);
    return status;
}

constexpr std::size_t kBytes = 1 << 16;

TEST(BusFault, AFileThatShrinksReadsAsZerosAndIsReported) {
    const Folder folder;
    spill(folder / "data", std::string(kBytes, 'x'));
    const int status = status_of([&] {
        report_bus_faults();
        const MappedFile file = map_file(folder / "data");
        if (bus_fault_seen()) return 1;
        fs::resize_file(folder / "data", kBytes / 2);
        if (file.bytes[0] != std::byte{'x'} || file.bytes[kBytes - 1] != std::byte{0}) return 2;
        if (!bus_fault_seen()) return 3;
        try {
            check_bus_faults();
            return 4;
        } catch (const Error& error) {
            const std::string text = error.what();
            if (error.kind() != ErrorKind::file || text.find("data shrank") == std::string::npos) return 5;
        }
        AtomicFile out(folder / "out");
        out.write("made of zeros");
        try {
            out.commit();
            return 6;
        } catch (const Error&) {
            return 0;
        }
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(BusFault, ALostPageOfAFileWithoutAPathIsAReadError) {
    const Folder folder;
    spill(folder / "data", std::string(kBytes, 'x'));
    const int status = status_of([&] {
        report_bus_faults();
        const int number = ::open((folder / "data").c_str(), O_RDONLY);
        void* const start = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, number, 0);
        const auto owner = own_mapping(start, kBytes, "/tmp (temporary data)", MappingName::label);
        fs::resize_file(folder / "data", 0);
        if (*static_cast<const volatile char*>(start) != 0) return 1;
        try {
            check_bus_faults();
            return 2;
        } catch (const Error& error) {
            const std::string text = error.what();
            return text.starts_with("cannot read /tmp (temporary data): ") ? 0 : 3;
        }
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(BusFault, OtherFaultsEndTheProgram) {
    const Folder folder;
    spill(folder / "data", std::string(kBytes, 'x'));
    const int status = status_of([&] {
        report_bus_faults();
        {
            // The handler forgets this range at the end of the block.
            const MappedFile left = map_file(folder / "data");
        }
        const int number = ::open((folder / "data").c_str(), O_RDONLY);
        const auto* const unknown =
            static_cast<const volatile char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, number, 0));
        fs::resize_file(folder / "data", 0);
        return static_cast<int>(unknown[kBytes - 1]);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

TEST(BusFault, WithoutFaultsNothingIsReported) {
    EXPECT_FALSE(bus_fault_seen());
    EXPECT_NO_THROW(check_bus_faults());
}

TEST(BusFault, MoreMappingsThanTheTableHoldsAreNoError) {
    const Folder folder;
    spill(folder / "data", "x");
    std::vector<MappedFile> many;
    for (int i = 0; i < 300; ++i) many.push_back(map_file(folder / "data"));
    EXPECT_EQ(many.back().bytes[0], std::byte{'x'});
}

}  // namespace
}  // namespace kandinsky
