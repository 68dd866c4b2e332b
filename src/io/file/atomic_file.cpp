#include "io/file/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "core/base/fail.hpp"
#include "io/file/bus_fault.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
constexpr std::size_t kBuffer = std::size_t{1} << 18, kLargestWrite = std::size_t{32} << 20;
constexpr int kMostLinks = 40, kMostNames = 100;

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

int open_retrying(const char* path, int flags, mode_t mode = 0) {
    int descriptor = -1;
    do descriptor = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/// A name that no other writer uses; callers still create the file with O_EXCL.
fs::path hidden_name_beside(const fs::path& file) {
    static std::atomic<std::uint64_t> counter{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return folder_of(file) / fmt::format(".kandinsky-{}-{}-{:x}.tmp", ::getpid(), ++counter, now);
}

struct Resolved {
    fs::path file;
    int descriptor = -1;  ///< the number in /proc/self/fd, if the path is an open descriptor
    int error = 0;
};

/// Follows the links at `path`, dangling links too. Recognises names of open descriptors (/dev/stdout,
/// /dev/fd/3): replacing the file behind them would break the caller's redirection.
Resolved resolve(fs::path path) {
    std::error_code ignored;
    const fs::path descriptors = fs::canonical("/proc/self/fd", ignored);
    for (int hop = 0; hop < kMostLinks; ++hop) {
        std::error_code code;
        if (!fs::is_symlink(fs::symlink_status(path, code))) return {.file = std::move(path)};
        if (!descriptors.empty() && fs::canonical(folder_of(path), ignored) == descriptors) {
            const std::string text = path.filename().string();
            int number = -1;
            const char* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
            if (end == text.data() + text.size()) return {.file = std::move(path), .descriptor = number};
        }
        const fs::path next = fs::read_symlink(path, code);
        if (code) return {.file = std::move(path), .error = code.value()};
        path = next.is_absolute() ? next : folder_of(path) / next;
    }
    return {.file = std::move(path), .error = ELOOP};
}
}  // namespace

fs::path linked_file(const fs::path& path) {
    Resolved resolved = resolve(path);
    return resolved.descriptor >= 0 || resolved.error != 0 ? path : std::move(resolved.file);
}

AtomicFile::AtomicFile(fs::path target, Temporary temporary) : target_(std::move(target)) {
    buffer_.reserve(kBuffer);
    if (target_.empty()) refuse(ENOENT);
    if (!target_.has_filename()) refuse(EISDIR);
    Resolved resolved = resolve(target_);
    if (resolved.error != 0) refuse(resolved.error);
    final_ = std::move(resolved.file);
    if (resolved.descriptor >= 0) {
        open_directly(::fcntl(resolved.descriptor, F_DUPFD_CLOEXEC, 0));
        return;
    }
    struct stat status {};
    const bool exists = ::stat(final_.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) refuse(errno);
    if (exists && S_ISDIR(status.st_mode)) refuse(EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
        open_directly(open_retrying(final_.c_str(), O_WRONLY));
        return;
    }
    // Renaming would replace even a read-only file.
    if (exists && ::faccessat(AT_FDCWD, final_.c_str(), W_OK, AT_EACCESS) != 0) refuse(errno);
    open_temporary(temporary);
}

void AtomicFile::open_directly(int descriptor) {
    if (descriptor < 0) refuse(errno);
    descriptor_ = descriptor;
    direct_ = true;
}

void AtomicFile::open_temporary(Temporary temporary) {
    if (temporary == Temporary::nameless) {
        descriptor_ = open_retrying(folder_of(final_).c_str(), O_TMPFILE | O_WRONLY, 0666);
        if (descriptor_ >= 0) return;
        const bool unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
        if (!unsupported) refuse(errno);
    }
    // O_EXCL instead of mkostemp: the kernel applies the umask, which a program cannot read without a race.
    for (int attempt = 0; attempt < kMostNames; ++attempt) {
        fs::path name = hidden_name_beside(final_);
        descriptor_ = open_retrying(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor_ >= 0) {
            temporary_ = std::move(name);
            return;
        }
        if (errno != EEXIST) break;
    }
    refuse(errno);
}

AtomicFile::~AtomicFile() {
    abandon();
}

void AtomicFile::abandon() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
}

void AtomicFile::refuse(int code) const {
    const std::string hint =
        code == ENOENT && !target_.empty()
            ? fmt::format(" (is there a folder {}?)", printable(folder_of(final_).string()))
            : "";
    fail(ErrorKind::file, "cannot write {}: {}{}", printable(target_.string()),
         std::generic_category().message(code), hint);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    if (descriptor_ < 0) fail(ErrorKind::internal, "[AtomicFile] {} is closed already", target_.string());
    const auto* from = static_cast<const std::byte*>(data);
    if (buffer_.size() + bytes > kBuffer) flush();
    if (bytes >= kBuffer) {
        write_through(from, bytes);
    } else if (bytes > 0) {
        buffer_.append(reinterpret_cast<const char*>(from), bytes);
    }
    position_ += bytes;
}

void AtomicFile::flush() {
    write_through(reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size());
    buffer_.clear();
}

void AtomicFile::write_through(const std::byte* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t put = ::write(descriptor_, data, std::min(bytes, kLargestWrite));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) refuse(errno);
        put_ += static_cast<std::uint64_t>(put);
        start_sync();
        data += put;
        bytes -= static_cast<std::size_t>(put);
    }
}

/// Starts writing to the disk while the next piece is computed, so that fsync() has little left to do.
void AtomicFile::start_sync() {
    if (direct_ || put_ - syncing_ < kLargestWrite) return;
#ifdef SYNC_FILE_RANGE_WRITE
    static_cast<void>(::sync_file_range(descriptor_, static_cast<off64_t>(syncing_),
                                        static_cast<off64_t>(put_ - syncing_), SYNC_FILE_RANGE_WRITE));
#endif
    syncing_ = put_;
}

void AtomicFile::prepare() {
    if (descriptor_ < 0) fail(ErrorKind::internal, "[AtomicFile] {} is closed already", target_.string());
    check_bus_faults();
    flush();
    // Pipes, devices and some network file systems cannot sync; this is not an error.
    if (::fsync(descriptor_) != 0 && !direct_ && errno != EINVAL && errno != ENOTSUP) refuse(errno);
    prepared_ = true;
}

void AtomicFile::commit() {
    if (descriptor_ < 0 || !prepared_ || !buffer_.empty()) prepare();
    if (direct_) {
        const int closing = std::exchange(descriptor_, -1);
        if (::close(closing) != 0 && errno != EINTR) refuse(errno);
        return;
    }
    place();
    temporary_.clear();
    ::close(std::exchange(descriptor_, -1));
    sync_folder();
}

/// Gives the finished file the target's name in one step. An unnamed file gets the name directly if it is
/// free. Otherwise it gets a hidden name first, because a link never replaces a file. A program that is
/// killed between these two steps leaves the hidden name behind.
void AtomicFile::place() {
    if (temporary_.empty()) {
        // The link in /proc needs no privilege. The empty path needs one, and is used if /proc is not
        // mounted.
        const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
        const auto named = [&](const fs::path& name) {
            if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
            return errno == ENOENT && ::linkat(descriptor_, "", AT_FDCWD, name.c_str(), AT_EMPTY_PATH) == 0;
        };
        if (named(final_)) return;
        fs::path name;
        bool linked = false;
        for (int attempt = 0; errno == EEXIST && !linked && attempt < kMostNames; ++attempt) {
            name = hidden_name_beside(final_);
            linked = named(name);
        }
        if (!linked) refuse(errno);
        temporary_ = std::move(name);
    }
    if (::rename(temporary_.c_str(), final_.c_str()) != 0) refuse(errno);
}

void AtomicFile::sync_folder() const {
    // Some folders cannot be opened and some file systems cannot sync them; this is not an error.
    const int folder = open_retrying(folder_of(final_).c_str(), O_RDONLY | O_DIRECTORY);
    if (folder < 0) return;
    const int code = ::fsync(folder) == 0 ? 0 : errno;
    ::close(folder);
    if (code == EIO || code == ENOSPC || code == EDQUOT)
        fail(ErrorKind::file, "{} is written, but flushing its folder to disk failed: {}",
             printable(target_.string()), std::generic_category().message(code));
}

}  // namespace kandinsky
