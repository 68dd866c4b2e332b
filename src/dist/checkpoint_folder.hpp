#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/stopwatch.hpp"
#include "core/team/checkpoint.hpp"

namespace kandinsky {

/// A checkpoint in files below a folder, one for each step and rank. Every file is complete, even if the run
/// is killed while it saves.
class CheckpointFolder final : public Checkpoint {
  public:
    /// `run` identifies the computation, its input and the number of ranks. A folder with the state of
    /// another run is refused with a usage error. `interval`: seconds between saves.
    CheckpointFolder(std::filesystem::path folder, const std::string& run, std::size_t rank, double interval);

    [[nodiscard]] std::optional<std::size_t> load(std::size_t step, std::string_view name,
                                                  const State& state) override;
    void save(std::size_t step, std::string_view name, std::size_t done, const State& state) override;
    [[nodiscard]] std::optional<std::vector<std::byte>> recall(std::size_t step,
                                                               std::string_view name) override;
    void keep(std::size_t step, std::string_view name, std::span<const std::byte> bytes) override;
    [[nodiscard]] bool due() const override { return since_.seconds() >= interval_; }
    [[nodiscard]] double interval() const override { return interval_; }

    /// Call when the run is done on all ranks: removes this rank's files and all temporary files, and the
    /// folder if it is empty.
    void clear();

  private:
    [[nodiscard]] std::filesystem::path file(std::size_t step) const;
    std::filesystem::path folder_;
    std::uint64_t run_;  ///< hash
    std::size_t rank_;
    double interval_;
    Stopwatch since_;
};

}  // namespace kandinsky
