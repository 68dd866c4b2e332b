#include "cli/folder_output.hpp"

#include <unistd.h>

#include "core/fail.hpp"

namespace kandinsky::cli {

namespace fs = std::filesystem;

FolderOutput::FolderOutput(const fs::path& target) {
    target_ = target.lexically_normal();
    if (!target_.has_filename()) target_ = target_.parent_path();
    std::error_code code;
    if (fs::exists(target_, code) && !fs::is_directory(target_, code))
        fail(ErrorKind::file, "cannot write into {}: it is a file, not a folder", target_.string());
    staging_ = target_.parent_path() / fmt::format(".{}.{}", target_.filename().string(), ::getpid());
    if (!fs::create_directory(staging_, code))
        fail(ErrorKind::file, "cannot write {}: {}", target_.string(),
             code ? code.message() : "a folder of an earlier run is in the way: " + staging_.string());
}

FolderOutput::~FolderOutput() {
    std::error_code ignored;
    if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

void FolderOutput::commit() {
    std::error_code code;
    const auto check = [&] {
        if (code) fail(ErrorKind::file, "cannot write {}: {}", target_.string(), code.message());
    };
    if (!fs::exists(target_, code)) {
        fs::rename(staging_, target_, code);
        check();
        staging_.clear();
        return;
    }
    for (const fs::directory_entry& file : fs::directory_iterator(staging_, code)) {
        fs::rename(file.path(), target_ / file.path().filename(), code);
        check();
    }
    check();
}

}  // namespace kandinsky::cli
