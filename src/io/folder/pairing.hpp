#pragma once

#include "io/source/source.hpp"

namespace kandinsky {

/// A file that cannot be used, and why.
struct BadFile {
    std::string path, problem;
};

/// What happens if there are bad files.
enum class BadFiles {
    refuse,  ///< an error lists them
    offer,   ///< the error also names the option `skip_bad`, which the caller has
    skip,    ///< the other files are used
};

/// Items that belong together, as indices into the two sources; with one source, both are the same index.
struct Pair {
    std::string name;
    std::size_t probs = 0, labels = 0;
};

struct Pairing {
    std::vector<Pair> pairs;  ///< in ascending order of their names
    /// Files without partner, duplicates, files that cannot be read or have another shape.
    std::vector<BadFile> bad;
    std::size_t files = 0;  ///< number of files examined
    std::string advice;     ///< advice if names do not pair
    std::string remark;     ///< how names were matched, if they are not equal
};

/// Pairs items by name. If no name occurs on both sides, endings that all names of a side share (as in
/// case_1_probs, case_2_probs) are ignored. If each side has one item, the two always pair. Either source may
/// be null; each usable item of the other is then a pair by itself.
[[nodiscard]] Pairing pair_items(const ImageSource* probs, const ImageSource* labels);

/// "2 of 9 files cannot be used: A has ...; B is ...": the first ten, then a count.
[[nodiscard]] std::string list_of(const std::vector<BadFile>& bad, std::size_t files);
/// Throws an error of kind `data` with that list, unless it is empty or bad files are skipped.
void refuse_bad(const std::vector<BadFile>& bad, std::size_t files, BadFiles use);

}  // namespace kandinsky
