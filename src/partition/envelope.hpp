#pragma once

#include <mutex>
#include <vector>

#include "partition/evidence.hpp"
#include "partition/group_levels.hpp"

namespace kandinsky::partition {

/// What one stratum has after some groups were left out, each once: the least of the smooth distributions
/// that were learnt without them, and the levels of their scores.
struct Envelope {
    std::vector<std::uint16_t> most;  ///< [cell][bin but the last]: 65535 less the least distribution
    GroupLevels levels;
    std::vector<double> shifts{};  ///< [group][numbers of a shift] where levels adapt; 0: not left out
    std::vector<std::uint64_t> weights{};  ///< [group] in units of GroupLevels; empty: all alike

    [[nodiscard]] State state();   ///< for checkpoints
    void sum(Communicator& comm);  ///< over the ranks, which have left out different groups
};

/// Lets smooth distributions that were learnt without a group judge its scores. Everything is read at score
/// thresholds that no data move, and rounded down: the least of several distributions is one again.
class SmoothJudge {
  public:
    SmoothJudge(const Dataset& data, const ScoreOptions& score, const Cells& cells);

    /// Of so many groups where levels adapt to the image. `weights`: of the groups, or none.
    [[nodiscard]] Envelope start(Adapt adapt = Adapt::none, std::size_t groups = 0,
                                 std::vector<std::uint64_t> weights = {}) const;
    /// `learnt`: without the group; edges, origin and distributions count. Null: nothing could be learnt, so
    /// that any score of a new pixel could be as strange. `shift`: learnt without the group, where levels
    /// adapt. Safe from several threads.
    void add(const Evidence& evidence, std::uint32_t group, const SmoothCurves::Storage* learnt,
             const Adaptation::Shift& shift, Envelope& out);
    /// The curves of an envelope; without the scores' number.
    [[nodiscard]] SmoothCurves::Storage curves(const Envelope& envelope, const Ladder& ladder) const;
    /// The same where levels adapt to the image: how they do, and the curves in `storage`.
    [[nodiscard]] Adaptation adapted_curves(const Envelope& envelope, const Ladder& ladder,
                                            SmoothCurves::Storage& storage) const;

  private:
    Grid image_;
    Cells cells_;
    ScoreGrid common_;
    std::vector<BetweenCells> rows_, columns_;
    std::mutex adding_;
};

/// The numbers of smooth curves that every set of distributions on a grid of scores shares.
[[nodiscard]] SmoothCurves::Storage storage_on(const ScoreGrid& grid, const Cells& cells,
                                               std::optional<std::vector<std::uint16_t>> distributions);

/// Distributions read at other thresholds, rounded down: [cell][bin but the last].
[[nodiscard]] std::vector<std::uint16_t> read_on(const ScoreGrid& to, const SmoothCurves::Storage& from,
                                                 std::size_t cells);

}  // namespace kandinsky::partition
