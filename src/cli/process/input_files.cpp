#include "cli/process/input_files.hpp"

#include <algorithm>
#include <system_error>

#include "io/folder/folder.hpp"

namespace kandinsky::cli {

namespace fs = std::filesystem;

namespace {
/// Levels of folders that are read, the input included: nnU-Net keeps files in FOLDER/fold_0/validation.
constexpr int kLevels = 3;

void add_files(const fs::path& folder, int levels, std::vector<fs::path>& to) {
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem)) {
        std::error_code ignored;
        if (!entry->is_directory(ignored)) {
            if (is_folder_file(entry->path())) to.push_back(entry->path());
        } else if (levels > 1) {
            add_files(entry->path(), levels - 1, to);
        }
    }
}
}  // namespace

std::string file_of(const std::string& input) {
    const std::size_t colon = input.rfind(".npz:");
    std::error_code ignored;
    return colon == std::string::npos || fs::exists(input, ignored) ? input : input.substr(0, colon + 4);
}

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    add_files(folder, kLevels, files);
    std::sort(files.begin(), files.end());
    return files;
}

bool is_folder_file(const fs::path& path) {
    const auto& formats = folder_formats();
    return path.extension() == ".json" ||
           std::any_of(formats.begin(), formats.end(), [&](const FolderFormat& format) {
               return item_name(path, format) != path.filename().string();
           });
}

}  // namespace kandinsky::cli
