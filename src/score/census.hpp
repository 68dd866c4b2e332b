#pragma once

#include <array>
#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/score.hpp>
#include <vector>

namespace kandinsky {

/// The result of one pass over a data set: the number of scores at each pixel, and hashes of the images.
struct Census {
    std::size_t strata = 0;                 ///< curves per pixel: the classes, or 1 when they are pooled
    std::vector<std::uint32_t> counts;      ///< [stratum][pixel]
    std::vector<std::uint64_t> totals;      ///< [stratum]
    std::uint64_t ignored = 0;              ///< pixels with an ignored label
    std::uint64_t classless = 0;            ///< pixels that masks give no class
    std::uint64_t images = 0, groups = 0;   ///< of all ranks together, like everything except image_hash
    std::vector<std::uint64_t> image_hash;  ///< content of each image of this rank: outputs and truth
    std::array<std::uint64_t, 2>
        fingerprint{};  ///< of the multiset of images and their groups; not cryptographic
};

/// Receives the images during a census, which saves a pass over the data.
class CensusGuest {
  public:
    virtual ~CensusGuest() = default;
    /// Receives the truth [class][range] of one image of the block [first, last). Its probabilities may still
    /// be invalid; take_census() then throws. The images of one block and range arrive in order and in one
    /// thread. Blocks and ranges arrive in any order, from several threads.
    virtual void see(PixelRange range, std::size_t first, std::size_t last, std::size_t image,
                     const std::uint8_t* member) = 0;
};

/// Reads all values once, so every bad value is found before any other work. Counts, totals and fingerprint
/// do not depend on the order of images or the number of threads. Throws a usage error without labels.
[[nodiscard]] Census take_census(const Dataset& data, Condition condition, Progress& progress,
                                 CensusGuest* guest = nullptr);

/// Throws the error that the data have changed since the census.
[[noreturn]] void refuse_changed(const Dataset& data);

/// Number of strata of a data set under a condition.
[[nodiscard]] inline std::size_t strata_of(const Dataset& data, Condition condition) {
    return condition == Condition::by_class ? data.classes() : 1;
}

}  // namespace kandinsky
