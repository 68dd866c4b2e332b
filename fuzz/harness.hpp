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

/// The path of the only file. Readers map a path; in these programs map_file() returns a copy of
/// set_input()'s bytes on the heap, exactly as long, so that the sanitizer detects a read of one byte too
/// many and no run uses the file system.
inline constexpr const char* kInput = "input";
void set_input(std::span<const std::byte> bytes);

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
    return std::as_bytes(std::span(data, size));
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Reports a finding, which ends the program with a message, if `holds` is false.
void check(bool holds, std::string_view what);

/// Runs `body` and returns whether it succeeded. `body` may also throw an Error of one line about the input;
/// everything else is a finding.
bool result_or_error(const std::function<void()>& body);

/// Reads values from an input, from front to back; after its end all values are 0.
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

/// The bytes that `save_into` writes into a file.
std::string written(const std::function<void(AtomicFile&)>& save_into);
/// The bytes that save() writes for a calibrator.
std::string saved(const Calibrator& calibrator);

/// Uses a calibrator and checks properties that hold for any, even from a hostile file: thresholds are not
/// NaN and do not grow with alpha, sets are nested, p-values agree with sets, and saving and loading change
/// nothing. With `released`, thresholds may be NaN and p-values may disagree with sets. Calibrators with
/// more than 2^14 classes times pixels are not checked.
void check_calibrator(const Calibrator& calibrator);

}  // namespace kandinsky::fuzz
