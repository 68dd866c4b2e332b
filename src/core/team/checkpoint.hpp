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
    /// Restores `state` as it was after the first `done` items, and returns `done`; nothing if there is no
    /// such save.
    [[nodiscard]] virtual std::optional<std::size_t> load(std::size_t step, std::string_view name,
                                                          const State& state) = 0;
    virtual void save(std::size_t step, std::string_view name, std::size_t done, const State& state) = 0;
    /// A result of any length instead.
    [[nodiscard]] virtual std::optional<std::vector<std::byte>> recall(std::size_t step,
                                                                       std::string_view name) = 0;
    virtual void keep(std::size_t step, std::string_view name, std::span<const std::byte> bytes) = 0;
    /// Whether the last save is long enough ago.
    [[nodiscard]] virtual bool due() const = 0;
    [[nodiscard]] virtual double interval() const = 0;  ///< seconds

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

/// Runs walk(first, last) over items [0, items), which adds to `state`: in one call, or with a checkpoint in
/// several, saving when due and continuing where a killed run had saved. `state` is zero on entry. `stretch`:
/// items of the first call; later calls take more items as long as they are short.
void accumulate(const Team& team, std::string_view name, std::size_t items, const State& state,
                const std::function<void(std::size_t, std::size_t)>& walk, std::size_t stretch = 16);

/// The result of make(), which is the same on all ranks and may communicate; taken from the checkpoints if
/// every rank has it.
[[nodiscard]] std::vector<std::byte> remembered(const Team& team, std::string_view name,
                                                const std::function<std::vector<std::byte>()>& make);

}  // namespace kandinsky
