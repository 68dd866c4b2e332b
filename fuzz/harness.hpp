#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <kandinsky/calibrator.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// libFuzzer calls this with every input; replay.cpp does so with the files of a corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kandinsky {
class AtomicFile;
}

namespace kandinsky::fuzz {

/// The only file there is. Readers take a path and map it; in these programs map_file() hands them a copy of
/// set_input()'s bytes on the heap, exactly as long, so that the sanitizer sees one byte too many and no
/// execution touches the file system.
inline constexpr const char* kInput = "input";
void set_input(std::span<const std::byte> bytes);

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
    return std::as_bytes(std::span(data, size));
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Ends the program with a message when `holds` is false: that is a finding.
void check(bool holds, std::string_view what);

/// Runs `body` and returns whether it had a result. The one other way out is an Error of one line that blames
/// the input; anything else is a finding.
bool result_or_error(const std::function<void()>& body);

/// Takes an input apart, front to back; where it has ended everything is 0.
class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : left_(data, size) {}
    std::uint8_t byte();
    std::uint32_t below(std::uint32_t n) { return n < 2 ? 0 : byte() % n; }  ///< n up to 256
    std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
    bool flag() { return (byte() & 1) != 0; }
    [[nodiscard]] bool empty() const { return left_.empty(); }
    std::span<const std::uint8_t> rest() { return std::exchange(left_, {}); }

  private:
    std::span<const std::uint8_t> left_;
};

/// What `save_into` writes into a file.
std::string written(const std::function<void(AtomicFile&)>& save_into);
/// What save() writes for a calibrator.
std::string saved(const Calibrator& calibrator);

/// Uses a calibrator as a program would and checks what holds for every one, made by us or read from a
/// hostile file: thresholds fall with alpha and are numbers, sets are nested, p-values agree with sets, and
/// saving and loading changes nothing.
void check_calibrator(const Calibrator& calibrator);

}  // namespace kandinsky::fuzz
