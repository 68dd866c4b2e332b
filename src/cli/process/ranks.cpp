#include "cli/process/ranks.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "core/base/fail.hpp"
#include "dist/join.hpp"

namespace kandinsky::cli {

namespace {
World* others = nullptr;
std::vector<std::string> words;
std::shared_ptr<const Team> team_at_work;

/// The identity of a run: the ranks, the words of the command without --quiet and --checkpoint, and the
/// files' sizes and times.
std::string name_of_run(const std::vector<std::string>& inputs, std::size_t ranks) {
    std::string run = fmt::format("kandinsky {} on {} ranks", KANDINSKY_VERSION, ranks);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "-q" || words[i] == "--quiet") continue;
        if (words[i].starts_with("--checkpoint"))
            i += words[i].find('=') == std::string::npos ? 1 : 0;
        else
            run += "\n" + words[i];
    }
    for (const std::string& input : inputs) {
        struct stat status {};
        if (::stat(input.c_str(), &status) != 0) continue;
        run += fmt::format("\n{} {} {}.{}", input, status.st_size, status.st_mtim.tv_sec,
                           status.st_mtim.tv_nsec);
    }
    return run;
}
}  // namespace

void work_with(World* world) {
    others = world;
}

World* world() {
    return others;
}

bool speaks() {
    return others == nullptr || others->comm().rank() == 0;
}

void remember_arguments(int argc, char** argv) {
    words.assign(argv + 1, argv + argc);
}

const std::vector<std::string>& arguments() {
    return words;
}

std::shared_ptr<const Team> current_team() {
    return team_at_work;
}

void refuse_ranks(const std::string& what) {
    if (others != nullptr)
        fail(ErrorKind::usage,
             "{} works on one rank, not on {}; calibrate, evaluate and compare work on several", what,
             others->comm().size());
}

std::size_t threads_for(std::size_t asked) {
    if (asked > 0 || others == nullptr) return asked;
    return std::max<std::size_t>(1, std::thread::hardware_concurrency() / ranks_here());
}

TeamWork::TeamWork(const TeamFlags& flags, const std::vector<std::string>& inputs) {
    Communicator& comm = others != nullptr ? others->comm() : alone();
    if (!flags.checkpoint.empty())
        checkpoint_ = std::make_unique<CheckpointFolder>(flags.checkpoint, name_of_run(inputs, comm.size()),
                                                         comm.rank(), flags.interval);
    if (others != nullptr || checkpoint_)
        team_at_work = std::make_shared<const Team>(Team{.comm = comm, .checkpoint = checkpoint_.get()});
}

TeamWork::~TeamWork() {
    team_at_work = nullptr;
}

std::string TeamWork::traffic() const {
    if (others == nullptr) return {};
    const Communicator::Traffic& own = others->comm().traffic();
    const std::uint64_t messages = own.messages, bytes = most(others->comm(), own.bytes);
    return fmt::format("{} ranks; each sent {} messages, at most {} bytes\n", others->comm().size(), messages,
                       bytes);
}

void TeamWork::done() {
    if (others != nullptr) others->comm().barrier();  // rank 0 has written
    if (checkpoint_) checkpoint_->clear();
}

}  // namespace kandinsky::cli
