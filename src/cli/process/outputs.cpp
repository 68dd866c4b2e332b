#include "cli/process/outputs.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/process/input_files.hpp"
#include "cli/process/ranks.hpp"
#include "core/base/fail.hpp"
#include "io/file/bus_fault.hpp"

namespace kandinsky::cli {

namespace fs = std::filesystem;

Outputs::Outputs(std::initializer_list<std::pair<std::string, std::string>> wanted) {
    for (const auto& [flag, path] : wanted)
        if (path == "-") fail(ErrorKind::usage, "{} cannot write to standard output; give a file name", flag);
    refuse_equal({wanted.begin(), wanted.end()});
    for (const auto& [flag, path] : wanted)
        if (!path.empty() && speaks()) files_[flag] = std::make_unique<AtomicFile>(path);
}

AtomicFile& Outputs::add(const fs::path& path) {
    return *(files_[path.string()] = std::make_unique<AtomicFile>(path));
}

void refuse_equal(const std::vector<std::pair<std::string, std::string>>& outputs) {
    std::map<std::string, std::string> flags;
    for (const auto& [flag, path] : outputs) {
        if (path.empty() || path == "-") continue;
        std::error_code code;
        const fs::path whole = fs::absolute(path).lexically_normal();
        // "D/" and "D" are one folder.
        const fs::path plain = whole.has_filename() ? whole : whole.parent_path();
        const fs::path name = fs::weakly_canonical(plain, code);
        if (const auto [other, fresh] = flags.emplace((code ? plain : name).string(), flag); !fresh)
            fail(ErrorKind::usage, "{} and {} both write {}; give each a name of its own", other->second,
                 flag, path);
    }
}

void refuse_overwriting(const std::vector<std::pair<std::string, std::string>>& inputs,
                        const std::vector<std::pair<std::string, std::string>>& outputs) {
    std::error_code code;  // on an error, such as a missing file, files count as different
    for (const auto& [flag, output] : outputs) {
        if (!fs::exists(output, code)) continue;
        const auto refuse = [&, &flag = flag, &output = output](const std::string& what) {
            fail(ErrorKind::usage, "{} {} would overwrite {}; name another one", flag, output, what);
        };
        for (const auto& [source, given] : inputs) {
            const std::string input = file_of(given);
            if (fs::equivalent(output, input, code)) refuse("the input of " + source);
            if (fs::is_directory(output, code) || !fs::is_directory(input, code) || !is_folder_file(output))
                continue;
            for (const fs::path& file : files_below(input))
                if (fs::equivalent(output, file, code)) refuse(fmt::format("a file of {} {}", source, input));
        }
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

FolderOutput::FolderOutput(const fs::path& target) {
    target_ = target.lexically_normal();
    if (!target_.has_filename()) target_ = target_.parent_path();
    std::error_code code;
    if (fs::exists(target_, code) && !fs::is_directory(target_, code))
        fail(ErrorKind::file, "cannot write into {}: it is a file, not a folder", target_.string());
    staging_ = target_.parent_path() / fmt::format(".{}.{}", target_.filename().string(), ::getpid());
    if (!fs::create_directory(staging_, code))
        fail(ErrorKind::file, "cannot write {}: {}", target_.string(),
             code ? code.message() : "remove the folder of an earlier run: " + staging_.string());
    listing_ = ::opendir(staging_.c_str());
    if (listing_ == nullptr) {
        const int reason = errno;
        remove_staging();
        fail(ErrorKind::file, "cannot write {}: {}", target_.string(),
             std::generic_category().message(reason));
    }
}

FolderOutput::~FolderOutput() {
    remove_staging();
    if (listing_ != nullptr) ::closedir(listing_);
}

void FolderOutput::remove_staging() noexcept {
    if (staging_.empty()) return;
    if (listing_ != nullptr) {
        ::rewinddir(listing_);
        while (const dirent* const entry = ::readdir(listing_))
            ::unlinkat(::dirfd(listing_), entry->d_name, 0);
    }
    ::rmdir(staging_.c_str());
}

void FolderOutput::commit() {
    check_bus_faults();
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
    std::vector<fs::path> names;
    ::rewinddir(listing_);
    while (const dirent* const entry = ::readdir(listing_))
        if (const std::string_view name = entry->d_name; name != "." && name != "..")
            names.emplace_back(name);
    for (const fs::path& name : names) {
        fs::rename(staging_ / name, target_ / name, code);
        check();
    }
}

}  // namespace kandinsky::cli
