#include "io/file/plugin_file.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
std::vector<std::filesystem::path> places(const PluginFile& wanted) {
    namespace fs = std::filesystem;
    const char* const named = std::getenv(wanted.variable);
    std::error_code ignored;
    // Absolute, because dlopen() searches the system's folders for a name without a slash.
    if (named != nullptr && *named != '\0') return {fs::absolute(named, ignored)};
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {program / wanted.file, program / ".." / "lib" / "kandinsky" / wanted.file};
}
}  // namespace

void* load_plugin(const PluginFile& wanted) {
    std::string problem;
    for (const std::filesystem::path& place : places(wanted)) {
        std::error_code ignored;
        if (!std::filesystem::exists(place, ignored)) continue;
        void* const library = ::dlopen(place.c_str(), RTLD_NOW | (wanted.global ? RTLD_GLOBAL : RTLD_LOCAL));
        if (library == nullptr) {
            problem = ::dlerror();
            continue;
        }
        const auto version = reinterpret_cast<std::uint32_t (*)()>(::dlsym(library, wanted.version_function));
        void* const make = ::dlsym(library, wanted.make_function);
        if (version != nullptr && make != nullptr && version() == wanted.version) return make;
        problem = place.string() + " belongs to another version of kandinsky";
    }
    if (!problem.empty())
        fail(ErrorKind::usage, "cannot use {}: {}; build it again", wanted.file, printable(problem));
    fail(ErrorKind::usage,
         "this build of kandinsky cannot {}: install {} and build again, or set {} to the path of {}",
         wanted.does, wanted.package, wanted.variable, wanted.file);
}

}  // namespace kandinsky
