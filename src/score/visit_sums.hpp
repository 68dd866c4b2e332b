#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/team/checkpoint.hpp"
#include "core/team/communicator.hpp"

namespace kandinsky {

/// The memory that a visit of images adds to: a checkpoint saves all of it, and ranks sum the counts in a few
/// large messages.
class VisitSums {
  public:
    void add(std::span<std::uint32_t> counts) { narrow_.push_back(counts); }
    void add(std::span<std::uint64_t> counts) { wide_.push_back(counts); }
    void add(std::span<std::int64_t> counts) {
        wide_.emplace_back(reinterpret_cast<std::uint64_t*>(counts.data()), counts.size());
    }
    void add(std::uint64_t& count) { wide_.emplace_back(&count, 1); }
    /// What belongs to the images of this rank and is not summed.
    void keep(std::span<std::byte> bytes) { own_.push_back(bytes); }

    [[nodiscard]] State state() const;
    void sum(Communicator& comm) const;

  private:
    std::vector<std::span<std::uint32_t>> narrow_;
    std::vector<std::span<std::uint64_t>> wide_;
    std::vector<std::span<std::byte>> own_;
};

}  // namespace kandinsky
