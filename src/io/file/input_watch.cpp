#include "io/file/input_watch.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <map>
#include <mutex>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// The properties that change when a file is written to or replaced. The time of the last status change
/// (ctime) is not used, because a backup that makes a hard link to the file changes it too.
struct Stamp {
    dev_t device;
    ino_t file;
    off_t bytes;
    time_t seconds;
    long nanoseconds;

    explicit Stamp(const struct stat& status)
        : device(status.st_dev),
          file(status.st_ino),
          bytes(status.st_size),
          seconds(status.st_mtim.tv_sec),
          nanoseconds(status.st_mtim.tv_nsec) {}
    bool operator==(const Stamp&) const = default;
};

std::atomic<bool> watching{false};
std::mutex access;
std::map<std::string, Stamp>& stamps() {
    static std::map<std::string, Stamp> all;
    return all;
}

[[noreturn]] void refuse(const std::string& path) {
    fail(ErrorKind::file,
         "{} changed while it was being read, so nothing was written; keep it unchanged and run again",
         printable(path, 4096));
}

/// File times advance in steps of up to 10 ms, and a second change within one step cannot be detected. If a
/// file was written just now, waits until the step has passed.
void wait_for_the_clock(const std::string& path, const Stamp& stamp) {
    constexpr std::int64_t kStep = 20'000'000, kSecond = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    const std::int64_t seconds = now.tv_sec - stamp.seconds;
    if (seconds < 0 || seconds > 1) return;
    const std::int64_t age = seconds * kSecond + now.tv_nsec - stamp.nanoseconds;
    if (age < 0 || age >= kStep) return;
    const timespec wait{0, static_cast<long>(kStep - age)};
    ::nanosleep(&wait, nullptr);
    struct stat again {};
    if (::stat(path.c_str(), &again) == 0 && Stamp(again) != stamp) refuse(path);
}
}  // namespace

InputWatch::InputWatch() : outermost_(!watching.exchange(true)) {}

InputWatch::~InputWatch() {
    if (!outermost_) return;
    const std::lock_guard lock(access);
    stamps().clear();
    watching = false;
}

void InputWatch::check() const {
    const std::lock_guard lock(access);
    for (const auto& [path, stamp] : stamps()) {
        struct stat now {};
        if (::stat(path.c_str(), &now) != 0) {
            if (errno == ENOENT) continue;
            fail(ErrorKind::file, "cannot read {}: {}", printable(path, 4096),
                 std::generic_category().message(errno));
        }
        if (Stamp(now) != stamp) refuse(path);
    }
}

void note_input(const std::filesystem::path& path, const struct stat& status) {
    if (!watching) return;
    wait_for_the_clock(path.string(), Stamp(status));
    const std::lock_guard lock(access);
    const auto [known, fresh] = stamps().emplace(path.string(), Stamp(status));
    if (!fresh && known->second != Stamp(status)) refuse(path.string());
}

}  // namespace kandinsky
