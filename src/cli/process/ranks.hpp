#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/team/team.hpp"
#include "dist/checkpoint_folder.hpp"
#include "dist/world.hpp"

namespace kandinsky::cli {

/// The ranks of this run, this one included; null for a single process. main() sets them once with
/// work_with(), and commands read them with world().
void work_with(World* world);
[[nodiscard]] World* world();
/// Whether this process prints and writes for the user, which only rank 0 does.
[[nodiscard]] bool speaks();
/// The words of the command line and its (flag, path) inputs, which identify the run of a checkpoint; empty
/// if they were not stored.
void remember_arguments(int argc, char** argv);
void remember_inputs(std::vector<std::pair<std::string, std::string>> inputs);
[[nodiscard]] const std::vector<std::string>& arguments();

/// The team whose ranks share the loaded data sets; null without a TeamWork, and for a single process without
/// a checkpoint.
[[nodiscard]] std::shared_ptr<const Team> current_team();

/// Throws a usage error on several ranks, because `what` works on one rank only.
void refuse_ranks(const std::string& what);

/// The number of threads for a value of --threads. On several ranks 0 becomes this rank's share of its
/// machine; in a single process it stays 0, which means all threads of the machine.
[[nodiscard]] std::size_t threads_for(std::size_t asked);

/// The values of --checkpoint and --checkpoint-every.
struct TeamFlags {
    std::string checkpoint;
    double interval = 60;
};

/// The ranks that work together on a command, and the folder of their state. current_team() returns the team
/// while this object exists.
class TeamWork {
  public:
    explicit TeamWork(const TeamFlags& flags);
    ~TeamWork();
    TeamWork(const TeamWork&) = delete;
    TeamWork& operator=(const TeamWork&) = delete;
    /// The amount of data sent over the network, for the summary; empty for a single process. Collective.
    [[nodiscard]] std::string traffic() const;
    /// Call when all outputs are written: removes the state and lets the other ranks end. Collective.
    void done();

  private:
    std::unique_ptr<CheckpointFolder> checkpoint_;
};

/// The folder of --checkpoint if it holds a state of this run, else an empty text.
[[nodiscard]] std::string saved_state();

}  // namespace kandinsky::cli
