#include "io/file/bus_fault.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace {
/// The handler reads the table while other threads add and remove entries, so it is an array of atomics that
/// never moves. The thread that sets `taken` owns the slot; `begin` is set last and cleared first.
struct Slot {
    std::atomic<bool> taken{false};
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::size_t> bytes{0};
    std::atomic<const char*> file{nullptr};
    std::atomic<bool> has_path{true};  ///< `file` is a path
};
constexpr std::size_t kSlots = 256;
constexpr std::size_t kLongestName = 4096;

std::array<Slot, kSlots> slots;
std::atomic<bool> seen{false}, told{false};
std::atomic<bool> shrank{false};
char faulty[kLongestName];  ///< written once, by the thread that set `seen`, before it sets `told`

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note_fault(const Slot& slot) noexcept {
    if (seen.exchange(true)) return;
    const char* const file = slot.file.load(std::memory_order_relaxed);
    struct stat status {};
    shrank = slot.has_path.load(std::memory_order_relaxed) &&
             (::stat(file, &status) != 0 ||
              static_cast<std::size_t>(status.st_size) < slot.bytes.load(std::memory_order_relaxed));
    std::size_t i = 0;
    for (; i + 1 < kLongestName && file[i] != '\0'; ++i) faulty[i] = file[i];
    faulty[i] = '\0';
    told = true;
}

/// Uses only calls that are safe in a handler. mmap() is one on Linux, because it is a plain system call.
void on_fault(int, siginfo_t* info, void*) {
    const int before = errno;
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (const Slot& slot : slots) {
        const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
        const std::size_t bytes = slot.bytes.load(std::memory_order_relaxed);
        if (begin == 0 || at < begin || at - begin >= bytes) continue;
        note_fault(slot);
        const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const std::uintptr_t from = at / page * page;
        void* const zeros = ::mmap(reinterpret_cast<void*>(from), begin + bytes - from, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED) break;
        errno = before;
        return;
    }
    // Not one of our mappings, or not recoverable: the instruction faults again and ends the program.
    std::signal(SIGBUS, SIG_DFL);
}

/// Mapped memory that the handler knows by name.
struct Mapping {
    std::shared_ptr<void> memory;
    std::string file;
    Slot* slot;  ///< slots.end() if the table is full: a fault then ends the program as without a handler

    Mapping(std::shared_ptr<void> mapped, std::size_t bytes, std::string name, MappingName kind)
        : memory(std::move(mapped)),
          file(std::move(name)),
          slot(std::find_if(slots.begin(), slots.end(), [](Slot& one) {
              return !one.taken.load(std::memory_order_relaxed) && !one.taken.exchange(true);
          })) {
        if (slot == slots.end()) return;
        slot->bytes.store(bytes, std::memory_order_relaxed);
        slot->file.store(file.c_str(), std::memory_order_relaxed);
        slot->has_path.store(kind == MappingName::path, std::memory_order_relaxed);
        slot->begin.store(reinterpret_cast<std::uintptr_t>(memory.get()), std::memory_order_release);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {  // clears the slot before `memory` is unmapped and its addresses can be used again
        if (slot == slots.end()) return;
        slot->begin.store(0, std::memory_order_release);
        slot->taken.store(false, std::memory_order_release);
    }
};
}  // namespace

void report_bus_faults() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
}

bool bus_fault_seen() noexcept {
    return seen.load(std::memory_order_relaxed);
}

void check_bus_faults() {
    if (!told) return;
    const std::string file = printable(faulty, kLongestName);
    if (shrank)
        fail(ErrorKind::file,
             "{} shrank while it was being read, so nothing was written; keep it unchanged and run again",
             file);
    fail(ErrorKind::file, "cannot read {}: {}", file, std::generic_category().message(EIO));
}

std::shared_ptr<const void> own_mapping(void* start, std::size_t bytes, std::string file, MappingName kind) {
    std::shared_ptr<void> memory(start, [bytes](void* at) { ::munmap(at, bytes); });
    return std::make_shared<const Mapping>(std::move(memory), bytes, std::move(file), kind);
}

}  // namespace kandinsky
