#pragma once

#include <memory>

#include "core/team/team.hpp"
#include "dist/checkpoint_folder.hpp"
#include "dist/world.hpp"

namespace kandinsky::cli {

/// The other ranks, if there are any; set once by main() and read by commands.
void work_with(World* world);
[[nodiscard]] World* world();
/// Whether this process prints and writes for the user: only rank 0 does.
[[nodiscard]] bool speaks();
/// The words of the command line, which identify the run of a checkpoint; empty if they were not stored.
void remember_arguments(int argc, char** argv);
[[nodiscard]] const std::vector<std::string>& arguments();

/// The team whose share of the images loaded data sets are; null: a process alone without a checkpoint.
[[nodiscard]] std::shared_ptr<const Team> current_team();

/// Throws a usage error on several ranks: `what` works on one.
void refuse_ranks(const std::string& what);

/// The number of threads for --threads; 0 means this rank's share of its machine.
[[nodiscard]] std::size_t threads_for(std::size_t asked);

/// --checkpoint and how often; the options declare them.
struct TeamFlags {
    std::string checkpoint;
    double interval = 60;
};

/// While a command works: the ranks that do it together and where their state is kept.
class TeamWork {
  public:
    /// `inputs`: files that the run depends on.
    TeamWork(const TeamFlags& flags, const std::vector<std::string>& inputs);
    ~TeamWork();
    TeamWork(const TeamWork&) = delete;
    TeamWork& operator=(const TeamWork&) = delete;
    /// The network volume for the summary; empty for a single process. Collective.
    [[nodiscard]] std::string traffic() const;
    /// Called when everything is written: the other ranks may end, and the state is removed.
    void done();

  private:
    std::unique_ptr<CheckpointFolder> checkpoint_;
};

}  // namespace kandinsky::cli
