#pragma once

#include "core/team/communicator.hpp"

namespace kandinsky {

/// The ranks of a run. This is the interface of the plug-in.
class World {
  public:
    virtual ~World() = default;
    [[nodiscard]] virtual Communicator& comm() = 0;
    /// Ends all ranks, whatever they are doing. Rank 0 prints the message of one failure, whose code becomes
    /// the exit code. If several ranks fail at about the same time, the failure of the lowest rank counts. A
    /// message from another rank may be cut after about 3000 bytes. A failed rank that cannot reach rank 0
    /// prints its own message.
    [[noreturn]] virtual void abandon(int code, const char* message) = 0;
    /// Waits for all ranks and ends the communication. Every rank calls it once, when its work is done.
    virtual void leave() = 0;
};

/// Prints a line for the user; the line has no line feed. Called on rank 0, or on a failed rank that
/// cannot reach rank 0.
using Tell = void(const char* line);

/// Raised with every change of this header or of Communicator; a plug-in of another version is refused.
inline constexpr std::uint32_t kWorldVersion = 2;

/// The two functions that a plug-in exports, with C names: kandinsky_world_version, kandinsky_world.
using WorldFunction = World*(int* argc, char*** argv, Tell* tell);

}  // namespace kandinsky
