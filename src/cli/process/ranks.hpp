#pragma once

#include <memory>

#include "core/team/team.hpp"
#include "dist/checkpoint_folder.hpp"
#include "dist/world.hpp"

namespace kandinsky::cli {

/// The other ranks, if there are any; main() sets it once, and commands read it.
void work_with(World* world);
[[nodiscard]] World* world();
/// Whether this process prints and writes for the user, which only rank 0 does.
[[nodiscard]] bool speaks();
/// The words of the command line, which identify the run of a checkpoint; empty if they were not stored.
void remember_arguments(int argc, char** argv);
[[nodiscard]] const std::vector<std::string>& arguments();

/// The team whose ranks share the loaded data sets; null for a single process without a checkpoint.
[[nodiscard]] std::shared_ptr<const Team> current_team();

/// Throws a usage error on several ranks, because `what` works on one rank only.
void refuse_ranks(const std::string& what);

/// The number of threads for --threads; 0 means this rank's share of its machine.
[[nodiscard]] std::size_t threads_for(std::size_t asked);

/// The values of --checkpoint and --checkpoint-every.
struct TeamFlags {
    std::string checkpoint;
    double interval = 60;
};

/// The ranks that work together on a command, and where their state is stored. Exists while the command
/// works.
class TeamWork {
  public:
    /// `inputs`: files that the run depends on.
    TeamWork(const TeamFlags& flags, const std::vector<std::string>& inputs);
    ~TeamWork();
    TeamWork(const TeamWork&) = delete;
    TeamWork& operator=(const TeamWork&) = delete;
    /// The amount of data sent over the network, for the summary; empty for a single process. Collective.
    [[nodiscard]] std::string traffic() const;
    /// Call when all outputs are written: removes the state and lets the other ranks end.
    void done();

  private:
    std::unique_ptr<CheckpointFolder> checkpoint_;
};

}  // namespace kandinsky::cli
