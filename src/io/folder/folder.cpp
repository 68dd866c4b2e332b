#include "io/folder/folder.hpp"

#include <algorithm>

#include "core/base/fail.hpp"
#include "io/nifti/format.hpp"
#include "io/png/png.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
/// The files of a folder or, if `below`, the files of its direct subfolders. Hidden names are left out.
std::vector<fs::path> files_in(const fs::path& folder, bool below) {
    std::vector<fs::path> files;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (entry->path().filename().string().front() == '.') continue;
        std::error_code ignored;
        if (below && entry->is_directory(ignored)) {
            const std::vector<fs::path> inner = files_in(entry->path(), false);
            files.insert(files.end(), inner.begin(), inner.end());
        } else if (!below && !entry->is_directory(ignored)) {
            files.push_back(entry->path());
        }
    }
    if (code) fail(ErrorKind::file, "cannot list {}: {}", folder.string(), code.message());
    return files;
}

struct Found {
    const FolderFormat* format;
    std::vector<fs::path> files;
};

std::vector<Found> formats_in(const fs::path& folder, bool below) {
    const std::vector<fs::path> files = files_in(folder, below);
    std::vector<Found> found;
    for (const FolderFormat& format : folder_formats()) {
        Found one{&format, {}};
        for (const fs::path& file : files)
            if (item_name(file, format) != file.filename().string()) one.files.push_back(file);
        if (!one.files.empty()) found.push_back(std::move(one));
    }
    return found;
}
}  // namespace

const std::vector<FolderFormat>& folder_formats() {
    static const std::vector<FolderFormat> formats{npz_format(), npy_format(), nifti_format(), png_format()};
    return formats;
}

std::unique_ptr<ImageSource> open_folder(const fs::path& folder, const SourceOptions& options) {
    std::vector<Found> found = formats_in(folder, false);
    std::error_code ignored;
    if (found.empty()) {
        // For the root of a Decathlon or nnU-Net dataset, its folder of labels is read.
        const fs::path labels = folder / "labelsTr";
        if (fs::is_directory(labels, ignored)) {
            if (options.role == Role::labels) return open_folder(labels, options);
            fail(ErrorKind::data, "{} is a dataset's root; give the folder of the model's probabilities",
                 folder.string());
        }
        found = formats_in(folder, true);
    }
    if (found.empty()) {
        std::string known;
        for (const FolderFormat& format : folder_formats())
            for (const std::string_view ending : format.endings)
                known += (known.empty() ? "" : ", ") + std::string(ending);
        fail(ErrorKind::data, "{} holds no file that can be read ({})", folder.string(), known);
    }
    // nnU-Net puts its label maps (.nii.gz) beside the probabilities (.npz).
    const bool nnunet = options.role == Role::probabilities && found.front().format->name == "NumPy archive";
    if (found.size() > 1 && !nnunet)
        fail(ErrorKind::data,
             "{} holds both {} and {} files; put those to be read into a folder of their own",
             folder.string(), found[0].format->name, found[1].format->name);
    std::sort(found.front().files.begin(), found.front().files.end(),
              [](const fs::path& a, const fs::path& b) {
                  return std::pair(a.filename().string(), a.string()) <
                         std::pair(b.filename().string(), b.string());
              });
    return found.front().format->open(found.front().files, options);
}

}  // namespace kandinsky
