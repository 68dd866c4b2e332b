#pragma once

#include <kandinsky/dataset.hpp>
#include <string>
#include <vector>

namespace kandinsky::cli {

/// Reads FILE.npy, FILE.npz or FILE.npz:KEY. In an archive of several arrays without a key, the first of
/// `usual_keys` that is there is taken.
[[nodiscard]] Array load_array(const std::string& source, const std::vector<std::string>& usual_keys);

/// What --probs, --labels, --groups, --ignore and --logits say.
struct InputFlags {
    std::string probs, labels, groups;
    std::string ignore = "255";
    std::string logits = "none";

    [[nodiscard]] Dataset load() const;             ///< with truth
    [[nodiscard]] Dataset load_unlabelled() const;  ///< probabilities only
};

/// "1,2,5" as numbers; throws a usage error that names the flag.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& text, const std::string& flag);
[[nodiscard]] std::vector<double> parse_reals(const std::string& text, const std::string& flag);
/// "2G", "512M", "100000": a number of bytes.
[[nodiscard]] std::size_t parse_bytes(const std::string& text, const std::string& flag);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

}  // namespace kandinsky::cli
