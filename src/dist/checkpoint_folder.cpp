#include "dist/checkpoint_folder.hpp"

#include <cstring>
#include <fstream>

#include "core/base/fail.hpp"
#include "core/kernel/hash.hpp"
#include "io/file/atomic_file.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
constexpr char kMagic[8] = {'K', 'A', 'N', 'D', 'C', 'K', 'P', '2'};

/// The header of every file. `hash` is that of the other numbers and of the content.
struct Head {
    char magic[8];
    std::uint64_t run = 0, name = 0, done = 0, bytes = 0, hash = 0;

    /// The hash of the other numbers, from which that of the content continues.
    [[nodiscard]] std::uint64_t start() const {
        const std::uint64_t numbers[] = {run, name, done, bytes};
        return hash_bytes(numbers, sizeof numbers, 0);
    }
};

std::uint64_t name_hash(std::string_view name) {
    return hash_bytes(name.data(), name.size(), 0);
}

/// Reads the header of a file that this class wrote; nothing for other files.
std::optional<Head> read_head(std::ifstream& file) {
    Head head;
    if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return std::nullopt;
    if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) return std::nullopt;
    return head;
}

void write_file(const fs::path& path, Head head, const State& state) {
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    for (const std::span<std::byte> part : state) head.bytes += part.size();
    head.hash = head.start();
    for (const std::span<std::byte> part : state) head.hash = hash_bytes(part.data(), part.size(), head.hash);
    AtomicFile file(path);
    file.write(&head, sizeof head);
    for (const std::span<std::byte> part : state) file.write(part.data(), part.size());
    file.commit();
}
}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, const std::string& run, std::size_t rank, double interval)
    : folder_(std::move(folder)),
      run_(hash_bytes(run.data(), run.size(), 1)),
      rank_(rank),
      interval_(interval) {
    std::error_code code;
    fs::create_directories(folder_, code);
    if (code)
        fail(ErrorKind::file, "cannot make the folder {}: {}", printable(folder_.string()), code.message());
    for (const auto& entry : fs::directory_iterator(folder_, code)) {
        if (entry.path().extension() != ".kckp") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::optional<Head> head = read_head(file);
        if (head && head->run != run_)
            fail(ErrorKind::usage,
                 "{} holds the state of another run (other options, inputs or number of ranks); name another "
                 "folder, or remove it to start again",
                 printable(folder_.string()));
    }
}

fs::path CheckpointFolder::file(std::size_t step) const {
    return folder_ / fmt::format("rank{:05}-step{:05}.kckp", rank_, step);
}

std::optional<std::size_t> CheckpointFolder::load(std::size_t step, std::string_view name,
                                                  const State& state) {
    std::ifstream from(file(step), std::ios::binary);
    const std::optional<Head> head = from ? read_head(from) : std::nullopt;
    std::size_t bytes = 0;
    for (const std::span<std::byte> part : state) bytes += part.size();
    if (!head || head->run != run_ || head->name != name_hash(name) || head->bytes != bytes)
        return std::nullopt;
    // Read into a copy, so that a damaged file does not change the state.
    std::vector<std::byte> all(bytes);
    if (!from.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(bytes)))
        return std::nullopt;
    std::uint64_t hash = head->start();
    const std::byte* next = all.data();
    for (const std::span<std::byte> part : state) {
        hash = hash_bytes(next, part.size(), hash);
        next += part.size();
    }
    if (hash != head->hash) return std::nullopt;
    next = all.data();
    for (const std::span<std::byte> part : state) {
        if (!part.empty()) std::memcpy(part.data(), next, part.size());
        next += part.size();
    }
    return head->done;
}

void CheckpointFolder::save(std::size_t step, std::string_view name, std::size_t done, const State& state) {
    write_file(file(step), {.magic = {}, .run = run_, .name = name_hash(name), .done = done}, state);
    since_ = Stopwatch();
}

std::optional<std::vector<std::byte>> CheckpointFolder::recall(std::size_t step, std::string_view name) {
    std::ifstream from(file(step), std::ios::binary);
    const std::optional<Head> head = from ? read_head(from) : std::nullopt;
    if (!head || head->run != run_ || head->name != name_hash(name)) return std::nullopt;
    std::error_code unreadable;  // a damaged header may state any size
    if (fs::file_size(file(step), unreadable) != sizeof(Head) + head->bytes || unreadable)
        return std::nullopt;
    std::vector<std::byte> bytes(head->bytes);
    if (!from.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
        return std::nullopt;
    if (hash_bytes(bytes.data(), bytes.size(), head->start()) != head->hash) return std::nullopt;
    return bytes;
}

void CheckpointFolder::keep(std::size_t step, std::string_view name, std::span<const std::byte> bytes) {
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    save(step, name, 0, {std::span(copy)});
}

void CheckpointFolder::clear() {
    std::error_code ignored;
    const std::string own = fmt::format("rank{:05}-", rank_);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
        const std::string name = entry.path().filename().string();
        // A process that is killed while it renames a file may leave a file with the temporary name.
        const bool stale = name.starts_with(".kandinsky-") && name.ends_with(".tmp");
        if (stale || (name.ends_with(".kckp") && name.starts_with(own))) files.push_back(entry.path());
    }
    for (const fs::path& path : files) fs::remove(path, ignored);
    fs::remove(folder_, ignored);  // has an effect only if it is empty
}

}  // namespace kandinsky
