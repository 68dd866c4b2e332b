#pragma once

#include "dist/world.hpp"

namespace kandinsky {

/// As how many ranks mpirun or a Slurm step started this process, by the environment; 1 for one alone.
[[nodiscard]] std::size_t started_ranks();
/// Its number among them before they have met.
[[nodiscard]] std::size_t started_rank();
/// Ranks on this machine, as far as the launcher tells.
[[nodiscard]] std::size_t ranks_here();

/// Meets the other ranks: loads the plug-in that speaks MPI. Null when there is none to meet. Throws a usage
/// error that says what to install when the plug-in is missing, and when MPI sees fewer ranks than there are.
[[nodiscard]] World* join(int* argc, char*** argv, Tell* tell);

}  // namespace kandinsky
