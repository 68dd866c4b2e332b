#pragma once

#include "dist/world.hpp"

namespace kandinsky {

/// The number of ranks that mpirun, another PMI launcher or a Slurm step started, from the environment; 1
/// without a launcher.
[[nodiscard]] std::size_t started_ranks();
/// This rank's number, from the environment, before MPI starts; 0 without a launcher.
[[nodiscard]] std::size_t started_rank();
/// The number of ranks on this machine; 1 if the launcher does not provide it.
[[nodiscard]] std::size_t ranks_here();

/// Loads the MPI plug-in and connects to the other ranks; returns null if there is one rank. The
/// result lives until the process ends. Throws a usage error if the plug-in is missing, or if MPI has another
/// number of ranks than the launcher started.
[[nodiscard]] World* join(int* argc, char*** argv, Tell* tell);

}  // namespace kandinsky
