#pragma once

#include <cstdint>
#include <kandinsky/predict.hpp>

namespace kandinsky {

/// Counts the classes in predicted sets. Thread-safe. Allocates nothing per image (each thread keeps its
/// scratch from its first image).
class SetTally {
  public:
    explicit SetTally(std::size_t classes) { counts_.members.resize(classes); }

    /// Adds the sets [class][pixel] of one image, of which `filled` were filled.
    void add(const std::uint8_t* sets, std::size_t pixels, std::uint64_t filled);

    /// Adds the counts of another tally.
    void add(const Predicted& other);

    /// The result, after all images are added.
    [[nodiscard]] const Predicted& counts() const { return counts_; }

  private:
    /// Adds all counts except the members.
    void add_all(const Predicted& other);

    Predicted counts_;
};

}  // namespace kandinsky
