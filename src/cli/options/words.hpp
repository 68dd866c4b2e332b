#pragma once

#include <cstdint>
#include <kandinsky/array.hpp>
#include <string>
#include <vector>

namespace kandinsky::cli {

/// The parts of a source FILE.npy, FILE.npz or FILE.npz:KEY. For an archive without KEY, the key is the only
/// array, or the first of `usual_keys` that exists; otherwise it is empty.
struct ArrayName {
    std::string file, key;
};
[[nodiscard]] ArrayName array_name(const std::string& source, const std::vector<std::string>& usual_keys);

/// Reads the array that `source` names, as in array_name(), or standard input for "-".
[[nodiscard]] Array load_array(const std::string& source, const std::vector<std::string>& usual_keys);

/// Whether `given` is `yes`. Throws a usage error that names the flag if it is neither `yes` nor `no`.
[[nodiscard]] bool says(const std::string& flag, const std::string& given, const std::string& yes,
                        const std::string& no);

/// "1,2,5" as numbers; throws a usage error that names the flag for other text. Reals may be NaN or infinite.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& text, const std::string& flag);
[[nodiscard]] std::vector<double> parse_reals(const std::string& text, const std::string& flag);
/// "2G", "512M", "100000" as a number of bytes; K, M and G are powers of 1024. Throws a usage error that
/// names the flag for 0 and for other text.
[[nodiscard]] std::size_t parse_bytes(const std::string& text, const std::string& flag);
/// A text as a field of a .csv, in quotes where they are needed.
[[nodiscard]] std::string csv_field(const std::string& text);
/// The parts between separators; empty parts are left out.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

}  // namespace kandinsky::cli
