#include "dist/join.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/fail.hpp"
#include "io/printable.hpp"

namespace kandinsky {

namespace {
constexpr const char* kFile = "libkandinsky_mpi.so";

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

std::vector<std::filesystem::path> places() {
    namespace fs = std::filesystem;
    const char* const named = std::getenv("KANDINSKY_MPI");
    if (named != nullptr && *named != '\0') return {named};
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    return {program / kFile, program / ".." / "lib" / "kandinsky" / kFile};
}

WorldFunction& load() {
    std::string problem;
    for (const std::filesystem::path& place : places()) {
        std::error_code ignored;
        if (!std::filesystem::exists(place, ignored)) continue;
        // Global: the parts that MPI loads for itself look for its symbols there.
        void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (library == nullptr) {
            problem = ::dlerror();
            continue;
        }
        const auto version =
            reinterpret_cast<WorldVersionFunction*>(::dlsym(library, "kandinsky_world_version"));
        const auto make = reinterpret_cast<WorldFunction*>(::dlsym(library, "kandinsky_world"));
        if (version != nullptr && make != nullptr && version() == kWorldVersion) return *make;
        problem = place.string() + " belongs to another version of kandinsky";
    }
    if (!problem.empty())
        fail(ErrorKind::usage, "cannot use {}: {}; build it again", kFile, printable(problem));
    fail(ErrorKind::usage,
         "this kandinsky cannot work on several ranks: install libopenmpi-dev and build again, or set "
         "KANDINSKY_MPI to the path of {}",
         kFile);
}
}  // namespace

std::size_t started_ranks() {
    // The variables of Open MPI's mpirun, of others that follow PMI, and of a step (srun), which an
    // allocation alone does not have.
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
