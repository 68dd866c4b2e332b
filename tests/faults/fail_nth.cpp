/// A library to be preloaded (LD_PRELOAD) that makes chosen calls of a program fail.
///
///     KANDINSKY_FAIL="CALL:N:ERROR"    the N-th call of that kind fails with ERROR (a name such as EIO)
///     KANDINSKY_FAIL="CALL:N+:ERROR"   so do all later ones; up to four plans are separated by commas
///     KANDINSKY_FAIL="none"            no call fails
///     KANDINSKY_FAIL_SERVE=IN,OUT      reads plans from descriptor IN, one a line, and answers on OUT
///
/// ERROR may also be KILL or STOP: the program is killed or stopped just before the call. CALL is a name of
/// kCalls. When serving, the program waits where main() begins; each plan is carried out by a copy
/// of it (fork) and answered by a line "STATUS HIT COUNT...": the status of waitpid, whether the call was
/// reached, and how many calls of each kind of kCalls there were. That saves the loading of the program for
/// each of thousands of plans.
///
/// Calls count from the start of main() on, because the program cannot handle failures in the loader and in
/// static constructors. Writes to standard error never fail, so that the message can be seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Call {
    kMalloc,
    kMmap,
    kMap,
    kOpen,
    kStat,
    kRead,
    kWrite,
    kPrint,
    kSync,
    kLink,
    kRename,
    kReserve,
    kMkdir,
    kCallCount
};
constexpr const char* kCalls[kCallCount] = {"malloc", "mmap", "map",  "open",   "stat",    "read", "write",
                                            "print",  "sync", "link", "rename", "reserve", "mkdir"};
struct ErrorName {
    const char* name;
    int code;
};
constexpr int kKill = -1, kStop = -2;
constexpr ErrorName kErrors[] = {{"ENOMEM", ENOMEM}, {"EIO", EIO},     {"ENOSPC", ENOSPC},
                                 {"EACCES", EACCES}, {"EROFS", EROFS}, {"EDQUOT", EDQUOT},
                                 {"EMFILE", EMFILE}, {"EINTR", EINTR}, {"ENODEV", ENODEV},
                                 {"KILL", kKill},    {"STOP", kStop}};
constexpr unsigned kMostSeconds = 60;  ///< a copy that takes longer counts as hanging

struct Plan {
    int call = -1;
    int error = 0;
    std::uint64_t first = 0;
    bool later_too = false;
};

/// Shared with the copies, so that it outlives them.
struct Tally {
    std::atomic<std::uint64_t> counts[kCallCount];
    std::atomic<bool> hit;
};

Tally own_tally;
Tally* tally = &own_tally;
constexpr std::size_t kMostPlans = 4;
Plan plans[kMostPlans];
std::atomic<bool> running{false};

/// Whether this call is to fail; then errno is set.
bool fails(Call call) {
    if (!running.load(std::memory_order_relaxed)) return false;
    const std::uint64_t number = tally->counts[call].fetch_add(1) + 1;
    for (const Plan& plan : plans) {
        if (call != plan.call || (plan.later_too ? number < plan.first : number != plan.first)) continue;
        if (&plan == plans) tally->hit = true;
        if (plan.error == kKill) ::kill(::getpid(), SIGKILL);
        if (plan.error == kStop) {
            ::kill(::getpid(), SIGSTOP);
            return false;
        }
        errno = plan.error;
        return true;
    }
    return false;
}

Plan parse(const char* text) {
    Plan out;
    const char* const colon = std::strchr(text, ':');
    char* end = nullptr;
    if (colon != nullptr) out.first = std::strtoull(colon + 1, &end, 10);
    out.later_too = end != nullptr && *end == '+';
    if (out.later_too) ++end;
    for (int i = 0; colon != nullptr && i < kCallCount; ++i)
        if (std::strlen(kCalls[i]) == static_cast<std::size_t>(colon - text) &&
            std::strncmp(kCalls[i], text, static_cast<std::size_t>(colon - text)) == 0)
            out.call = i;
    for (const ErrorName& known : kErrors)
        if (end != nullptr && *end == ':' && std::strcmp(known.name, end + 1) == 0) out.error = known.code;
    if (out.call >= 0 && out.error != 0 && out.first > 0) return out;
    std::fprintf(stderr, "fail_nth: the plan is '%s', but must be CALL:N:ERROR\n", text);
    std::_Exit(99);
}

/// "none", or plans separated by commas; HIT refers to the first of them.
void take_plans(char* text) {
    if (std::strcmp(text, "none") == 0) return;
    std::size_t number = 0;
    for (char* part = std::strtok(text, ","); part != nullptr && number < kMostPlans;
         part = std::strtok(nullptr, ","))
        plans[number++] = parse(part);
}

/// Returns only in copies, which then go on with their plan.
void serve(const char* descriptors) {
    int in = -1, out = -1;
    if (std::sscanf(descriptors, "%d,%d", &in, &out) != 2) std::_Exit(99);
    tally = static_cast<Tally*>(
        ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    FILE* const requests = ::fdopen(in, "r");
    char line[128];
    while (std::fgets(line, sizeof line, requests) != nullptr) {
        line[std::strcspn(line, "\n")] = '\0';
        for (auto& count : tally->counts) count = 0;
        tally->hit = false;
        const pid_t copy = ::fork();
        if (copy == 0) {
            take_plans(line);
            ::alarm(kMostSeconds);
            return;
        }
        int status = 0;
        ::waitpid(copy, &status, 0);
        ::dprintf(out, "%d %d", status, tally->hit ? 1 : 0);
        for (const auto& count : tally->counts)
            ::dprintf(out, " %llu", static_cast<unsigned long long>(count.load()));
        ::dprintf(out, "\n");
    }
    std::_Exit(0);
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The original function with the same name, looked up once.
#define NEXT(name) static auto* const real = next<decltype(::name)>(#name)

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
    if (const char* const descriptors = std::getenv("KANDINSKY_FAIL_SERVE"))
        serve(descriptors);
    else if (char* const text = std::getenv("KANDINSKY_FAIL"))
        take_plans(text);
    running = true;
    return real_main(argc, argv, environment);
}

/// open() has a mode after its flags only if these may create a file.
mode_t mode_of(int flags, va_list more) {
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*loader)(),
                      void* stack) {
    using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
    real_main = main;
    return next<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, loader, stack);
}

// ---- memory ----
void* malloc(std::size_t bytes) {
    return fails(kMalloc) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    return fails(kMalloc) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) {
    return fails(kMalloc) ? nullptr : __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    return fails(kMalloc) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    void* const memory = memalign(alignment, bytes);
    if (memory == nullptr) return ENOMEM;
    *out = memory;
    return 0;
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    NEXT(mmap);
    return fails(file < 0 ? kMmap : kMap) ? MAP_FAILED : real(at, bytes, protection, flags, file, offset);
}
void* mmap64(void* at, std::size_t bytes, int protection, int flags, int file, off64_t offset) {
    return mmap(at, bytes, protection, flags, file, offset);
}

// ---- files ----
int open(const char* path, int flags, ...) {
    NEXT(open);
    va_list more;
    va_start(more, flags);
    const mode_t mode = mode_of(flags, more);
    va_end(more);
    return fails(kOpen) ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = mode_of(flags, more);
    va_end(more);
    return open(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
    NEXT(openat);
    va_list more;
    va_start(more, flags);
    const mode_t mode = mode_of(flags, more);
    va_end(more);
    return fails(kOpen) ? -1 : real(folder, path, flags, mode);
}
int stat(const char* path, struct stat* out) {
    NEXT(stat);
    return fails(kStat) ? -1 : real(path, out);
}
int fstat(int file, struct stat* out) {
    NEXT(fstat);
    return fails(kStat) ? -1 : real(file, out);
}
int lstat(const char* path, struct stat* out) {
    NEXT(lstat);
    return fails(kStat) ? -1 : real(path, out);
}
ssize_t read(int file, void* to, std::size_t bytes) {
    NEXT(read);
    return fails(kRead) ? -1 : real(file, to, bytes);
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
    NEXT(pread);
    return fails(kRead) ? -1 : real(file, to, bytes, offset);
}
ssize_t pread64(int file, void* to, std::size_t bytes, off64_t offset) {
    return pread(file, to, bytes, offset);
}
ssize_t write(int file, const void* from, std::size_t bytes) {
    NEXT(write);
    return file != STDERR_FILENO && fails(kWrite) ? -1 : real(file, from, bytes);
}
ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t offset) {
    NEXT(pwrite);
    return fails(kWrite) ? -1 : real(file, from, bytes, offset);
}
ssize_t pwrite64(int file, const void* from, std::size_t bytes, off64_t offset) {
    return pwrite(file, from, bytes, offset);
}
int fsync(int file) {
    NEXT(fsync);
    return fails(kSync) ? -1 : real(file);
}
int fdatasync(int file) {
    NEXT(fdatasync);
    return fails(kSync) ? -1 : real(file);
}
int rename(const char* from, const char* to) {
    NEXT(rename);
    return fails(kRename) ? -1 : real(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    NEXT(renameat);
    return fails(kRename) ? -1 : real(from_folder, from, to_folder, to);
}
int link(const char* from, const char* to) {
    NEXT(link);
    return fails(kLink) ? -1 : real(from, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    NEXT(linkat);
    return fails(kLink) ? -1 : real(from_folder, from, to_folder, to, flags);
}
int ftruncate(int file, off_t bytes) {
    NEXT(ftruncate);
    return fails(kReserve) ? -1 : real(file, bytes);
}
int ftruncate64(int file, off64_t bytes) {
    return ftruncate(file, bytes);
}
int posix_fallocate(int file, off_t offset, off_t bytes) {
    NEXT(posix_fallocate);
    return fails(kReserve) ? errno : real(file, offset, bytes);
}
int posix_fallocate64(int file, off64_t offset, off64_t bytes) {
    return posix_fallocate(file, offset, bytes);
}
int mkdir(const char* path, mode_t mode) {
    NEXT(mkdir);
    return fails(kMkdir) ? -1 : real(path, mode);
}

// ---- standard output: the C library writes it by internal calls that cannot be replaced ----
std::size_t fwrite(const void* from, std::size_t size, std::size_t count, FILE* stream) {
    NEXT(fwrite);
    return stream == stdout && fails(kPrint) ? 0 : real(from, size, count, stream);
}
int fflush(FILE* stream) {
    NEXT(fflush);
    return stream == stdout && fails(kPrint) ? EOF : real(stream);
}
}
