#pragma once

#include <cstdint>

namespace kandinsky {

/// A shared library loaded at need, with two C functions: the interface's version, and the object's maker.
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
/// program, else in ../lib/kandinsky from there. Throws a usage error that says what to install.
[[nodiscard]] void* load_plugin(const PluginFile& wanted);

}  // namespace kandinsky
