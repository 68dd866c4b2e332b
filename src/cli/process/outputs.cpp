#include "cli/process/outputs.hpp"

#include <set>

#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"

namespace kandinsky::cli {

Outputs::Outputs(std::initializer_list<std::pair<std::string, std::string>> wanted) {
    std::set<std::string> names;
    for (const auto& [flag, path] : wanted) {
        if (path.empty()) continue;
        if (path == "-")
            fail(ErrorKind::usage, "{} - would write binary data to the terminal; give a file name", flag);
        if (!names.insert(std::filesystem::path(path).lexically_normal().string()).second)
            fail(ErrorKind::usage, "{} and another option both write {}", flag, path);
        if (speaks()) files_[flag] = std::make_unique<AtomicFile>(path);
    }
}

void make_folder(const std::filesystem::path& folder) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) fail(ErrorKind::file, "cannot make the folder {}: {}", folder.string(), problem.message());
}

void Outputs::commit() {
    for (const auto& [flag, file] : files_) file->prepare();
    for (const auto& [flag, file] : files_) file->commit();
}

}  // namespace kandinsky::cli
