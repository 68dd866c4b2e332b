#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "io/file/atomic_file.hpp"

namespace kandinsky::cli {

/// Makes a folder for outputs, and those above it; throws a file error where that cannot be.
void make_folder(const std::filesystem::path& folder);

/// The files a command will write, opened before the work starts and put in place together at its end: a run
/// that fails or is interrupted leaves all of them as they were.
class Outputs {
  public:
    /// (flag, path) pairs; empty paths are left out. Refuses two outputs of one name and "-".
    Outputs(std::initializer_list<std::pair<std::string, std::string>> wanted);

    [[nodiscard]] bool has(const std::string& flag) const { return files_.count(flag) > 0; }
    [[nodiscard]] AtomicFile& file(const std::string& flag) const { return *files_.at(flag); }
    void commit();

  private:
    std::map<std::string, std::unique_ptr<AtomicFile>> files_;
};

}  // namespace kandinsky::cli
