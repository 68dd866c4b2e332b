#include "io/file/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/fail.hpp"
#include "io/file/atomic_file.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// Whether the path still names the open file. The previous owner of the lock may have removed it.
bool names(const std::filesystem::path& path, int descriptor) {
    struct stat opened = {};
    struct stat named = {};
    return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}
}  // namespace

FileLock::FileLock(const std::filesystem::path& file) : path_(linked_file(file)) {
    path_ += ".lock";
    for (;;) {
        descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor_ < 0)
            fail(ErrorKind::file, "cannot write {}: {}", printable(path_.string()),
                 std::generic_category().message(errno));
        if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            const int reason = errno;
            close(descriptor_);
            if (reason == EWOULDBLOCK)
                fail(ErrorKind::file, "{} is in use by another process; try again when it has ended",
                     printable(file.string()));
            fail(ErrorKind::file, "cannot lock {}: {}", printable(path_.string()),
                 std::generic_category().message(reason));
        }
        if (names(path_, descriptor_)) return;
        close(descriptor_);
    }
}

FileLock::~FileLock() {
    // Removed while locked: a process that opened it before finds that the path no longer names it.
    unlink(path_.c_str());
    close(descriptor_);
}

}  // namespace kandinsky
