#pragma once

#include <dirent.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file/atomic_file.hpp"

namespace kandinsky::cli {

/// Creates a folder for outputs and its parents; throws a file error if that is impossible.
void make_folder(const std::filesystem::path& folder);

/// Throws a usage error if an output would overwrite an input, even under another name. A file in an input
/// folder counts as an input if folders are read from files of its format. Both lists have (flag, path).
void refuse_overwriting(const std::vector<std::pair<std::string, std::string>>& inputs,
                        const std::vector<std::pair<std::string, std::string>>& outputs);

/// The files that a command writes. They are opened before the work, and at its end they get their names
/// together or not at all.
class Outputs {
  public:
    /// (flag, path) pairs; empty paths are left out. Refuses "-" and two outputs with one name.
    Outputs(std::initializer_list<std::pair<std::string, std::string>> wanted);

    [[nodiscard]] bool has(const std::string& flag) const { return files_.contains(flag); }
    [[nodiscard]] AtomicFile& file(const std::string& flag) const { return *files_.at(flag); }
    void commit();

  private:
    std::map<std::string, std::unique_ptr<AtomicFile>> files_;
};

/// A folder of output files that appear together: they are written into a hidden folder beside the target and
/// moved at the end, one by one if the target exists. Without commit() nothing remains. Files of the same
/// names in the target are replaced. Failures throw Error of kind `file`.
class FolderOutput {
  public:
    explicit FolderOutput(const std::filesystem::path& target);
    ~FolderOutput();
    FolderOutput(const FolderOutput&) = delete;
    FolderOutput& operator=(const FolderOutput&) = delete;

    [[nodiscard]] const std::filesystem::path& folder() const { return staging_; }
    void commit();

  private:
    void remove_staging() noexcept;

    std::filesystem::path target_, staging_;
    DIR* listing_ = nullptr;  ///< opened at the start, because later there may be no free descriptor
};

}  // namespace kandinsky::cli
