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

/// Creates a folder, with its parents, for outputs. Throws a file error if that is impossible.
void make_folder(const std::filesystem::path& folder);

/// Throws a usage error if an output would overwrite an input, even under another name. A file in an input
/// folder counts as an input if folders are read from files of its format. Both lists have (flag, path).
void refuse_overwriting(const std::vector<std::pair<std::string, std::string>>& inputs,
                        const std::vector<std::pair<std::string, std::string>>& outputs);

/// Throws a usage error for two outputs with one name. Takes (flag, path); empty paths and "-" are left out.
void refuse_equal(const std::vector<std::pair<std::string, std::string>>& outputs);

/// The files that a command writes. They are opened before the work. At its end everything that is likely to
/// fail is done for all of them, and then they get their names one by one. If a later one cannot get its name
/// after all, the earlier ones stay.
class Outputs {
  public:
    /// (flag, path) pairs; empty paths are left out. Refuses "-" and two outputs with one name. Only rank 0
    /// opens files, so has() is false on the other ranks.
    Outputs(std::initializer_list<std::pair<std::string, std::string>> wanted);

    [[nodiscard]] bool has(const std::string& flag) const { return files_.contains(flag); }
    [[nodiscard]] AtomicFile& file(const std::string& flag) const { return *files_.at(flag); }
    /// One more file, whose name is known only after the work. It must be none of the others.
    [[nodiscard]] AtomicFile& add(const std::filesystem::path& path);
    void commit();

  private:
    std::map<std::string, std::unique_ptr<AtomicFile>> files_;
};

/// A folder of output files: they are written into a hidden folder beside the target, which gets the target's
/// name at the end. If the target exists, the files are moved one by one and replace files of the same names;
/// if a move fails, the files moved before it stay. Without commit() nothing remains. Failures throw Error of
/// kind `file`.
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
