#pragma once

#include <dirent.h>

#include <filesystem>

namespace kandinsky::cli {

/// A folder of output files that appear together: they are written into a hidden folder beside the target and
/// moved at the end. Destroyed without commit, nothing remains. Files that stand in the target already are
/// replaced where names agree. Failures throw Error of kind `file`.
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
    DIR* listing_ =
        nullptr;  ///< opened at the start: there may be no descriptor left when it must be emptied
};

}  // namespace kandinsky::cli
