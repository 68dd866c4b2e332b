#pragma once

#include <cstdint>

namespace kandinsky {

/// A shared library that is loaded when needed. It has two C functions: one returns the interface's version,
/// one creates the object.
struct PluginFile {
    const char* file;
    const char* variable;  ///< environment variable that may give the path of the file
    const char* does;      ///< for the message if the file is missing: "this build of kandinsky cannot ..."
    const char* package;   ///< the package to install if the file is missing
    const char* version_function;
    const char* make_function;
    std::uint32_t version;
    bool global;  ///< its symbols are visible to libraries that it loads itself
};

/// Loads the file and returns its make function. If the environment variable is set, uses only its path;
/// otherwise searches the folder of the program, then ../lib/kandinsky from there. Throws a usage error that
/// names the package to install or, if there is a file, says why it cannot be used.
[[nodiscard]] void* load_plugin(const PluginFile& wanted);

}  // namespace kandinsky
