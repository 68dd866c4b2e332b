#pragma once

#include "core/team/communicator.hpp"

namespace kandinsky {

/// The ranks of a run. This is the interface of the plug-in.
class World {
  public:
    virtual ~World() = default;
    [[nodiscard]] virtual Communicator& comm() = 0;
    /// Ends all ranks, whatever they are doing. First rank 0 prints the message of one failure, whose code
    /// becomes the exit code. If several ranks fail together, it is the failure of the lowest rank.
    [[noreturn]] virtual void abandon(int code, const char* message) = 0;
    /// Call when all ranks have done their work.
    virtual void leave() = 0;
};

/// Prints a line for the user; the line has no line feed. Called on rank 0, or on a failed rank if rank 0
/// does not respond.
using Tell = void(const char* line);

/// Raised with every change of this header or of Communicator; a plug-in of another version is refused.
inline constexpr std::uint32_t kWorldVersion = 2;

/// The two functions that a plug-in exports, with C names: kandinsky_world_version, kandinsky_world.
using WorldFunction = World*(int* argc, char*** argv, Tell* tell);

}  // namespace kandinsky
