#include "dist/join.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "core/base/fail.hpp"
#include "io/file/plugin_file.hpp"

namespace kandinsky {

namespace {
std::optional<std::size_t> number(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    std::size_t value = 0;
    const char* const end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, value);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

std::size_t first_of(std::initializer_list<const char*> variables, std::size_t otherwise) {
    for (const char* const variable : variables)
        if (const auto value = number(variable)) return *value;
    return otherwise;
}

WorldFunction& load() {
    // Loaded with global symbols, because components that MPI loads need its symbols.
    return *reinterpret_cast<WorldFunction*>(load_plugin({.file = "libkandinsky_mpi.so",
                                                          .variable = "KANDINSKY_MPI",
                                                          .does = "work on several ranks",
                                                          .package = "libopenmpi-dev",
                                                          .version_function = "kandinsky_world_version",
                                                          .make_function = "kandinsky_world",
                                                          .version = kWorldVersion,
                                                          .global = true}));
}
}  // namespace

std::size_t started_ranks() {
    // The variables of Open MPI's mpirun, of other launchers with PMI, and of a Slurm step (not of an
    // allocation).
    return std::max<std::size_t>(
        1, first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS"}, 1));
}

std::size_t started_rank() {
    return first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}, 0);
}

std::size_t ranks_here() {
    return std::max<std::size_t>(1, first_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1));
}

World* join(int* argc, char*** argv, Tell* tell) {
    const std::size_t wanted = started_ranks();
    if (wanted == 1) return nullptr;
    World* const world = load()(argc, argv, tell);
    if (world->comm().size() != wanted)
        fail(ErrorKind::usage,
             "this is one of {} processes, but MPI sees {}; start them with mpirun, or srun --mpi=pmix",
             wanted, world->comm().size());
    return world;
}

}  // namespace kandinsky
