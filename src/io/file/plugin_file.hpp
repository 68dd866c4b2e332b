#pragma once

#include <cstdint>

namespace kandinsky {

/// A shared library that the command loads when it needs it, with two C functions: one returns the version of
/// the interface, the other makes the plug-in's object.
struct PluginFile {
    const char* file;
    const char* variable;  ///< of the environment: its path, where it lies elsewhere
    const char* does;      ///< in the message where it is missing: "this kandinsky cannot ..."
    const char* package;   ///< what to install before building it
    const char* version_function;
    const char* make_function;
    std::uint32_t version;
    bool global;  ///< its symbols are visible to libraries that it loads itself
};

/// Loads the file and returns its make function. It is looked for where the variable says, else beside the
/// program, else in ../lib/kandinsky from there. Throws a usage error that says what to install where there
/// is none of the right version.
[[nodiscard]] void* load_plugin(const PluginFile& wanted);

}  // namespace kandinsky
