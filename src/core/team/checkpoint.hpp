#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kandinsky {

/// The memory of integer sums that a walk over images fills.
using State = std::vector<std::span<std::byte>>;

/// Where the state of a long run is kept, so that a killed one can go on. The steps of a run are numbered as
/// they come: a run that is started again makes the same steps in the same order. Each rank has its own.
class Checkpoint {
  public:
    virtual ~Checkpoint() = default;
    /// Fills `state` as it was when the first `done` items had been seen; nothing when that was not kept.
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

/// Runs walk(first, last) over items [0, items), which adds to `state`: in one go, or with a checkpoint in
/// stretches, saving when that is due and going on where a killed run had saved. `state` is zero on entry.
/// `stretch`: items of the first; later ones are longer as long as they take little time.
void accumulate(const Team& team, std::string_view name, std::size_t items, const State& state,
                const std::function<void(std::size_t, std::size_t)>& walk, std::size_t stretch = 16);

/// The result of make(), which all ranks share and may talk about; taken from the checkpoints instead when
/// every rank has it.
[[nodiscard]] std::vector<std::byte> remembered(const Team& team, std::string_view name,
                                                const std::function<std::vector<std::byte>()>& make);

}  // namespace kandinsky
