#pragma once

#include <memory>

#include "core/team/team.hpp"
#include "dist/checkpoint_folder.hpp"
#include "dist/world.hpp"

namespace kandinsky::cli {

/// The other ranks, if there are any; set once by main() and asked for by commands.
void work_with(World* world);
[[nodiscard]] World* world();
/// Whether this process says and writes something for the user: rank 0 alone does.
[[nodiscard]] bool speaks();
/// The words of the command line, by which a checkpoint knows its run; none where nobody remembered them.
void remember_arguments(int argc, char** argv);
[[nodiscard]] const std::vector<std::string>& arguments();

/// The team whose share of the images loaded data sets are; null: a process alone without a checkpoint.
[[nodiscard]] std::shared_ptr<const Team> current_team();

/// Throws a usage error on several ranks: `what` works on one.
void refuse_ranks(const std::string& what);

/// The threads that --threads asks for: 0 stands for this rank's share of its machine.
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
    /// What the ranks have said to each other, for the summary; empty for a process alone. All ranks ask.
    [[nodiscard]] std::string traffic() const;
    /// Everything is written: the others may go, and the state is not needed any more.
    void done();

  private:
    std::unique_ptr<CheckpointFolder> checkpoint_;
};

}  // namespace kandinsky::cli
