#include "core/team/checkpoint.hpp"

#include <algorithm>

#include "core/base/stopwatch.hpp"
#include "core/team/team.hpp"

namespace kandinsky {

void accumulate(const Team& team, std::string_view name, std::size_t items, const State& state,
                const std::function<void(std::size_t, std::size_t)>& work, std::size_t stretch) {
    if (team.checkpoint == nullptr) {
        work(0, items);
        return;
    }
    Checkpoint& kept = *team.checkpoint;
    const std::size_t step = kept.next_step();
    std::size_t done = kept.load(step, name, state).value_or(0);
    while (done < items) {
        const Stopwatch watch;
        const std::size_t last = std::min(items, done + stretch);
        work(done, last);
        done = last;
        // A call is long enough that the clock costs nothing, and short enough that saves are on time.
        if (watch.seconds() < std::min(1.0, kept.interval() / 4)) stretch *= 2;
        if (kept.due()) kept.save(step, name, done, state);
    }
}

std::vector<std::byte> remembered(const Team& team, std::string_view name,
                                  const std::function<std::vector<std::byte>()>& make) {
    if (team.checkpoint == nullptr) return make();
    Checkpoint& kept = *team.checkpoint;
    const std::size_t step = kept.next_step();
    std::optional<std::vector<std::byte>> known = kept.recall(step, name);
    // One rank may have been killed before it saved what the others have saved.
    if (least(team.comm, known.has_value() ? 1 : 0) == 1) return std::move(*known);
    std::vector<std::byte> made = make();
    if (least(team.comm, kept.due() ? 1 : 0) == 1) kept.keep(step, name, made);
    return made;
}

}  // namespace kandinsky
