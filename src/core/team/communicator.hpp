#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kandinsky {

/// Communication between the processes (ranks) of one run. Every call is collective: all ranks make the same
/// calls in the same order. The spans of a call have the same length on all ranks, except in gather(). Only
/// integers are added, so the number of ranks and the order of addition have no effect. Not thread-safe.
class Communicator {
  public:
    virtual ~Communicator() = default;
    [[nodiscard]] virtual std::size_t rank() const = 0;  ///< below size()
    [[nodiscard]] virtual std::size_t size() const = 0;

    /// Replaces every value by its sum over the ranks, modulo 2^64 or 2^32 according to its type.
    void sum(std::span<std::uint64_t> values) {
        if (size() == 1 || values.empty()) return;
        count(values.size_bytes());
        add(values);
    }
    void sum(std::span<std::uint32_t> values) {
        if (size() == 1 || values.empty()) return;
        count(values.size_bytes());
        add(values);
    }
    /// Replaces every value by its maximum over the ranks.
    void max(std::span<std::uint64_t> values) {
        if (size() == 1 || values.empty()) return;
        count(values.size_bytes());
        raise(values);
    }
    /// Gathers the bytes of every rank, of any length, on every rank.
    [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) {
        if (size() == 1) return {std::vector<std::byte>(own.begin(), own.end())};
        count(own.size_bytes());
        return collect(own);
    }
    /// Returns when all ranks have called it.
    void barrier() {
        std::uint64_t none = 0;
        sum(std::span(&none, 1));
    }

    /// What this rank has sent so far.
    struct Traffic {
        std::uint64_t messages = 0;  ///< collective calls
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  protected:
    virtual void add(std::span<std::uint64_t> values) = 0;
    virtual void add(std::span<std::uint32_t> values) = 0;
    virtual void raise(std::span<std::uint64_t> values) = 0;
    virtual std::vector<std::vector<std::byte>> collect(std::span<const std::byte> own) = 0;

  private:
    void count(std::size_t bytes) {
        ++traffic_.messages;
        traffic_.bytes += bytes;
    }
    Traffic traffic_;
};

/// The communicator of a single process.
[[nodiscard]] Communicator& alone();

}  // namespace kandinsky
