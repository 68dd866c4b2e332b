#include "io/file/plugin_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::expect_error;
using test::Folder;
using test::spill;
namespace fs = std::filesystem;

constexpr const char* kVariable = "KANDINSKY_TEST_PLUGIN";
constexpr PluginFile kWanted{.file = "libkandinsky-test.so",
                             .variable = kVariable,
                             .does = "run a test",
                             .package = "test-package",
                             .version_function = "version",
                             .make_function = "make",
                             .version = 1,
                             .global = false};

/// Works in another folder until it is destroyed.
class WorkIn {
  public:
    explicit WorkIn(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
    WorkIn(const WorkIn&) = delete;
    WorkIn& operator=(const WorkIn&) = delete;
    ~WorkIn() { fs::current_path(before_); }

  private:
    fs::path before_;
};

TEST(PluginFile, AMissingFileNamesThePackage) {
    expect_error(ErrorKind::usage, {"cannot run a test", "install test-package", kVariable},
                 [] { (void)load_plugin(kWanted); });
}

TEST(PluginFile, ANameWithoutASlashIsAFileOfTheCurrentFolder) {
    const Folder folder;
    spill(folder / "mine.so", "not a library");
    const WorkIn here(folder.path());
    ::setenv(kVariable, "mine.so", 1);
    // The message of dlopen() begins with the path that it opened.
    expect_error(ErrorKind::usage, {(fs::current_path() / "mine.so").string() + ":"},
                 [] { (void)load_plugin(kWanted); });
    ::unsetenv(kVariable);
}

}  // namespace
}  // namespace kandinsky
