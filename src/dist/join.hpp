#pragma once

#include "dist/world.hpp"

namespace kandinsky {

/// The number of ranks that mpirun or a Slurm step started, from the environment; 1 without either.
[[nodiscard]] std::size_t started_ranks();
/// The number of this rank, from the environment, before MPI starts.
[[nodiscard]] std::size_t started_rank();
/// The number of ranks on this machine, if the launcher provides it.
[[nodiscard]] std::size_t ranks_here();

/// Connects to the other ranks: loads the MPI plug-in. Null if there is one rank. Throws a usage error that
/// says what to install if the plug-in is missing, and if MPI has fewer ranks than the launcher started.
[[nodiscard]] World* join(int* argc, char*** argv, Tell* tell);

}  // namespace kandinsky
