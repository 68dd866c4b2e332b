#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace kandinsky {

/// A cache of numbers computed from single images. All copies and subsets of a data set share one store.
/// Thread-safe.
class ImageStore {
  public:
    using Numbers = std::shared_ptr<const std::vector<std::uint16_t>>;
    /// If all rows would need more bytes than this, the store keeps no row after the visit of its image.
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    explicit ImageStore(std::size_t rows) : kept_(rows) {}

    /// The cached result for the row, otherwise that of make(). Two threads may both compute it.
    template <class Make>
    [[nodiscard]] Numbers get(std::size_t row, Make&& make) {
        {
            const std::lock_guard lock(mutex_of(row));
            if (kept_[row]) return kept_[row];
        }
        auto made = std::make_shared<const std::vector<std::uint16_t>>(make());
        const std::lock_guard lock(mutex_of(row));
        if (!kept_[row]) kept_[row] = std::move(made);
        return kept_[row];
    }

    /// Removes the row's numbers if those of all rows would need too much memory.
    void release(std::size_t row) {
        const std::lock_guard lock(mutex_of(row));
        if (kept_[row] && kept_[row]->size() * sizeof(std::uint16_t) * kept_.size() > kMostBytes)
            kept_[row].reset();
    }

  private:
    [[nodiscard]] std::mutex& mutex_of(std::size_t row) { return mutexes_[row % mutexes_.size()]; }

    std::vector<Numbers> kept_;
    std::array<std::mutex, 64> mutexes_;
};

}  // namespace kandinsky
