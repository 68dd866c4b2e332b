#pragma once

#include <mutex>
#include <vector>

#include "curve/curve_storage.hpp"
#include "partition/evidence.hpp"
#include "partition/group_levels.hpp"

namespace kandinsky::partition {

/// The results for one stratum after leaving out some groups, one at a time: the minimum of the smooth
/// distributions learnt without a group, and the levels of the scores of the groups that were left out.
struct Envelope {
    std::vector<std::uint16_t> most;  ///< [cell][bin except the last]: 65535 minus the minimum
    GroupLevels levels;
    std::vector<double> shifts{};  ///< [group][numbers of a shift] if levels adapt; 0 for groups not left out
    std::vector<std::uint64_t> weights{};  ///< [group] in units of GroupLevels; empty: equal

    [[nodiscard]] State state();   ///< for checkpoints
    void sum(Communicator& comm);  ///< over the ranks, each of which has left out other groups
};

/// Evaluates smooth distributions at the scores of the group that they were learnt without. All distributions
/// are read at fixed score thresholds and rounded down, so the minimum of several distributions is again a
/// distribution.
class SmoothJudge {
  public:
    SmoothJudge(const Dataset& data, const ScoreOptions& score, const Cells& cells);

    /// `groups`: their number, needed if levels adapt to the image. `weights`: of the groups, or empty.
    [[nodiscard]] Envelope start(Adapt adapt = Adapt::none, std::size_t groups = 0,
                                 std::vector<std::uint64_t> weights = {}) const;
    /// `learnt`: what was learnt without the group (edges, origin and distributions are used). Null: nothing
    /// could be learnt, so the group's scores count as infinite and the distribution is 0 everywhere.
    /// `shift`: learnt without the group, if levels adapt. Thread-safe.
    void add(const Evidence& evidence, std::uint32_t group, const SmoothStorage* learnt,
             const Adaptation::Shift& shift, Envelope& out);
    /// The curves of an envelope, without the number of scores.
    [[nodiscard]] SmoothStorage curves(const Envelope& envelope, const Ladder& ladder) const;
    /// The same if levels adapt to the image: returns the adaptation and puts the curves into `storage`.
    [[nodiscard]] Adaptation adapted_curves(const Envelope& envelope, const Ladder& ladder,
                                            SmoothStorage& storage) const;

  private:
    Grid image_;
    Cells cells_;
    ScoreGrid common_;
    std::vector<BetweenCells> rows_, columns_;
    std::mutex adding_;
};

/// Smooth curves with these distributions, without levels and counts; no distributions: curves without data.
[[nodiscard]] SmoothStorage storage_on(const ScoreGrid& grid, const Cells& cells,
                                       std::optional<std::vector<std::uint16_t>> distributions);

/// Distributions read at other thresholds, rounded down: [cell][bin except the last].
[[nodiscard]] std::vector<std::uint16_t> read_on(const ScoreGrid& to, const SmoothStorage& from,
                                                 std::size_t cells);

}  // namespace kandinsky::partition
