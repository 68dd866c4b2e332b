#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kandinsky {

/// The memory of the integer sums of a pass over images.
using State = std::vector<std::span<std::byte>>;

/// Stores the state of a long run, so that a killed run can continue. The steps of a run are numbered in
/// order; a restarted run makes the same steps in the same order. Each rank has its own checkpoint.
class Checkpoint {
  public:
    virtual ~Checkpoint() = default;
    /// Restores the saved `state` and returns the number of items that it includes; nothing without a save.
    [[nodiscard]] virtual std::optional<std::size_t> load(std::size_t step, std::string_view name,
                                                          const State& state) = 0;
    virtual void save(std::size_t step, std::string_view name, std::size_t done, const State& state) = 0;
    /// The same for a result of any length.
    [[nodiscard]] virtual std::optional<std::vector<std::byte>> recall(std::size_t step,
                                                                       std::string_view name) = 0;
    virtual void keep(std::size_t step, std::string_view name, std::span<const std::byte> bytes) = 0;
    /// Whether the next save is due.
    [[nodiscard]] virtual bool due() const = 0;
    [[nodiscard]] virtual double interval() const = 0;  ///< seconds between saves

    [[nodiscard]] std::size_t next_step() { return step_++; }

  private:
    std::size_t step_ = 0;
};

/// The bytes of a vector of integers.
template <class T>
[[nodiscard]] std::span<std::byte> bytes_of(std::vector<T>& values) {
    return std::as_writable_bytes(std::span<T>(values));
}

struct Team;

/// Calls work(first, last), which adds to `state`, for the items [0, items). Without a checkpoint this is one
/// call. With a checkpoint there are several, the state is saved when due, and a restarted run continues from
/// the last save. `state` is zero on entry. `stretch`: number of items of the first call; the number doubles
/// while calls are short.
void accumulate(const Team& team, std::string_view name, std::size_t items, const State& state,
                const std::function<void(std::size_t, std::size_t)>& work, std::size_t stretch = 16);

/// Returns the result of make(), or the saved result if the checkpoint of every rank has it. make() returns
/// the same on all ranks and may communicate.
[[nodiscard]] std::vector<std::byte> remembered(const Team& team, std::string_view name,
                                                const std::function<std::vector<std::byte>()>& make);

}  // namespace kandinsky
