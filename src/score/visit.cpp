#include "score/visit.hpp"
#include "core/data/dataset_access.hpp"

#include <kandinsky/error.hpp>
#include <mutex>

#include "core/base/parallel.hpp"
#include "core/team/team.hpp"
#include "score/surroundings.hpp"

namespace kandinsky {

namespace {
template <class T>
void sum_all(Communicator& comm, const std::vector<std::span<T>>& spans) {
    if (spans.empty()) return;
    if (spans.size() == 1) return comm.sum(spans.front());
    std::vector<T> all;
    for (const std::span<T> one : spans) all.insert(all.end(), one.begin(), one.end());
    comm.sum(std::span(all));
    const T* from = all.data();
    for (const std::span<T> one : spans) {
        std::copy_n(from, one.size(), one.begin());
        from += one.size();
    }
}

constexpr std::size_t kBlock = 128;  // images that all tiles read before their pages are released

/// `all`: the number of items of one pass.
void report(const Visit& visit, std::size_t done, std::size_t all) {
    visit.progress.update(visit.stage, visit.pass * all + done, visit.passes * all);
}

/// Runs read(first, last) over all items: in one stretch, or in several with checkpoints between them.
void in_stretches(const Visit& visit, std::size_t items,
                  const std::function<void(std::size_t, std::size_t)>& read) {
    const Team& team = team_of(visit.data);
    const auto stretch = [&](std::size_t first, std::size_t last) {
        read(first, last);
        if (visit.settle) visit.settle();
    };
    const bool counts = team.counts() && visit.sums;
    if (counts)
        accumulate(team, visit.stage, items, visit.sums().state(), stretch);
    else
        stretch(0, items);
    visit.stop_if_cancelled();
    if (visit.complete) visit.complete();
    if (counts) visit.sums().sum(team.comm);
}
}  // namespace

State VisitSums::state() const {
    State all = own_;
    for (const std::span<std::uint32_t> one : narrow_) all.push_back(std::as_writable_bytes(one));
    for (const std::span<std::uint64_t> one : wide_) all.push_back(std::as_writable_bytes(one));
    return all;
}

void VisitSums::sum(Communicator& comm) const {
    if (comm.size() == 1) return;
    sum_all(comm, narrow_);
    sum_all(comm, wide_);
}

void Visit::stop_if_cancelled() const {
    if (progress.cancelled()) throw Interrupted();
}

void visit_tiles(const Visit& visit, std::size_t tiles,
                 const std::function<void(std::size_t, std::size_t, std::size_t)>& body) {
    in_stretches(visit, visit.data.images(), [&](std::size_t first, std::size_t last) {
        for (std::size_t begin = first; begin < last; begin += kBlock) {
            const std::size_t end = std::min(last, begin + kBlock);
            report(visit, begin, visit.data.images());
            visit.data.prefetch(end, std::min(last, end + kBlock));
            if (visit.score != nullptr && visit.score->kind == ScoreKind::near)
                parallel_for(end - begin, [&](std::size_t i) {
                    visit.stop_if_cancelled();
                    (void)distances_of(visit.data, begin + i);
                });
            parallel_for(tiles, [&](std::size_t tile) {
                visit.stop_if_cancelled();
                body(tile, begin, end);
            });
            visit.data.release(begin, end);
        }
        report(visit, last, visit.data.images());
    });
}

void visit_groups(const Visit& visit, const std::function<void(const std::vector<std::uint32_t>&)>& body) {
    std::vector<std::vector<std::uint32_t>> groups(visit.data.groups());
    for (std::size_t image = 0; image < visit.data.images(); ++image)
        groups[visit.data.group_of(image)].push_back(static_cast<std::uint32_t>(image));
    in_stretches(visit, groups.size(), [&](std::size_t first, std::size_t last) {
        std::size_t done = first;
        std::mutex reporting;
        report(visit, first, groups.size());
        parallel_for(last - first, [&](std::size_t i) {
            visit.stop_if_cancelled();
            const std::vector<std::uint32_t>& images = groups[first + i];
            body(images);
            for (const std::uint32_t image : images) visit.data.release(image, image + 1);
            const std::lock_guard lock(reporting);
            report(visit, ++done, groups.size());
        });
    });
}

void visit_blocks(const Visit& visit, Blocks blocks,
                  const std::function<void(std::size_t, std::size_t, std::size_t)>& body) {
    in_stretches(visit, visit.data.images(), [&](std::size_t first, std::size_t last) {
        const std::size_t count = (last - first + blocks.images - 1) / blocks.images;
        const std::size_t parts = blocks.parts > 0 ? std::min(blocks.parts, count) : count;
        std::size_t done = first;
        std::mutex reporting;
        report(visit, first, visit.data.images());
        parallel_for(parts, [&](std::size_t part) {
            for (std::size_t block = part; block < count; block += parts) {
                visit.stop_if_cancelled();
                const std::size_t begin = first + block * blocks.images;
                const std::size_t end = std::min(last, begin + blocks.images);
                visit.data.prefetch(end, end + blocks.images);
                body(part, begin, end);
                visit.data.release(begin, end);
                const std::lock_guard lock(reporting);
                report(visit, done += end - begin, visit.data.images());
            }
        });
    });
}

}  // namespace kandinsky
