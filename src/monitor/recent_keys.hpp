#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace kandinsky {

/// The last kMost different keys of a stream, in the order in which they were added.
class RecentKeys {
  public:
    static constexpr std::size_t kMost = 4096;

    [[nodiscard]] bool has(std::uint64_t key) const { return known_.contains(key); }
    /// Adds a key; a key that is already present keeps its place.
    void add(std::uint64_t key) {
        if (!known_.insert(key).second) return;
        if (ring_.size() < kMost) {
            ring_.push_back(key);
            return;
        }
        known_.erase(ring_[next_]);
        ring_[next_] = key;
        next_ = (next_ + 1) % kMost;
    }
    /// From the oldest to the latest.
    [[nodiscard]] std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> out(ring_.begin() + static_cast<std::ptrdiff_t>(next_), ring_.end());
        out.insert(out.end(), ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(next_));
        return out;
    }

  private:
    std::vector<std::uint64_t> ring_;
    std::size_t next_ = 0;
    std::unordered_set<std::uint64_t> known_;
};

}  // namespace kandinsky
