#include "cli/process/ranks.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "cli/process/input_files.hpp"
#include "core/base/fail.hpp"
#include "dist/join.hpp"

namespace kandinsky::cli {

namespace {
World* others = nullptr;
std::vector<std::string> words;
std::vector<std::pair<std::string, std::string>> inputs;  // (flag, path)
std::shared_ptr<const Team> team_at_work;
std::string state_folder;

/// A file's name, size and time; empty if it cannot be examined.
std::string stamp_of(const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return fmt::format("\n{} {} {}.{}", file, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/// The identity of a run: the ranks, the words of the command without those that do not change the result,
/// and the inputs' names, sizes and times. Of a folder, those of its files count, not its own.
std::string name_of_run(std::size_t ranks) {
    std::string run = fmt::format("kandinsky {} on {} ranks", KANDINSKY_VERSION, ranks);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "-q" || words[i] == "--quiet") continue;
        if (words[i].starts_with("--checkpoint") || words[i].starts_with("--threads"))
            i += words[i].find('=') == std::string::npos ? 1 : 0;
        else
            run += "\n" + words[i];
    }
    for (const auto& [flag, input] : inputs) {
        const std::string file = file_of(input);
        std::error_code ignored;
        if (!std::filesystem::is_directory(file, ignored))
            run += stamp_of(file);
        else
            for (const std::filesystem::path& one : files_below(file)) run += stamp_of(one.string());
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

void remember_inputs(std::vector<std::pair<std::string, std::string>> given) {
    inputs = std::move(given);
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

TeamWork::TeamWork(const TeamFlags& flags) {
    Communicator& comm = others != nullptr ? others->comm() : alone();
    if (!flags.checkpoint.empty())
        checkpoint_ = std::make_unique<CheckpointFolder>(flags.checkpoint, name_of_run(comm.size()),
                                                         comm.rank(), flags.interval);
    state_folder = flags.checkpoint;
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

std::string saved_state() {
    std::error_code ignored;
    if (state_folder.empty()) return {};
    for (std::filesystem::directory_iterator entry(state_folder, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
        if (entry->path().extension() == ".kckp") return state_folder;
    return {};
}

}  // namespace kandinsky::cli
