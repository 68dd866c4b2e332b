#include "score/visit.hpp"
#include "core/data/dataset_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <kandinsky/error.hpp>
#include <map>
#include <mutex>

#include "support/memory_checkpoint.hpp"
#include "support/synthetic.hpp"
#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using namespace test;

constexpr std::size_t kImages = 300;  // more than two blocks of visit_tiles()

Dataset images() {
    return make({.images = kImages, .grid = {1, 2}}).dataset();
}

/// Remembers the last progress. cancelled() returns false `patience` times, then true.
class Watcher final : public Progress {
  public:
    explicit Watcher(int patience = 1 << 20) : left_(patience) {}
    void update(std::string_view, std::size_t done, std::size_t total) override {
        EXPECT_GE(done, last);
        EXPECT_LE(done, total);
        last = done;
        all = total;
    }
    [[nodiscard]] bool cancelled() const override { return left_.fetch_sub(1) <= 0; }
    std::size_t last = 0, all = 0;

  private:
    mutable std::atomic<int> left_;
};

TEST(Tiles, CoverAllPixelsOnce) {
    for (const std::size_t pixels : {1u, 7u, 8u, 9u}) {
        const Tiles tiles{pixels, 4};
        std::size_t next = 0;
        for (std::size_t t = 0; t < tiles.count(); ++t) {
            EXPECT_EQ(tiles[t].begin, next);
            EXPECT_GT(tiles[t].end, next);
            next = tiles[t].end;
        }
        EXPECT_EQ(next, pixels);
    }
}

TEST(VisitTiles, EveryTileSeesEveryImageOnceAndInOrder) {
    const Dataset data = images();
    Watcher watcher;
    std::vector<std::vector<std::size_t>> seen(5);
    std::size_t settled = 0;
    visit_tiles({.data = data,
                 .progress = watcher,
                 .stage = "x",
                 .pass = 1,
                 .passes = 3,
                 .settle = [&] { ++settled; }},
                seen.size(), [&](std::size_t tile, std::size_t first, std::size_t last) {
                    for (std::size_t image = first; image < last; ++image) seen[tile].push_back(image);
                });
    for (const auto& own : seen) {
        ASSERT_EQ(own.size(), kImages);
        for (std::size_t image = 0; image < kImages; ++image) EXPECT_EQ(own[image], image);
    }
    EXPECT_EQ(settled, 1u);
    EXPECT_EQ(watcher.last, 2 * kImages);
    EXPECT_EQ(watcher.all, 3 * kImages);
}

TEST(VisitBlocks, EveryImageIsSeenOnceAndAPartByOneThreadAtATime) {
    const Dataset data = images();
    for (const std::size_t parts : {0u, 1u, 3u, 1000u}) {
        Watcher watcher;
        std::vector<std::atomic<int>> seen(kImages), busy(std::max(kImages, parts));
        visit_blocks({.data = data, .progress = watcher, .stage = "x"}, {.images = 7, .parts = parts},
                     [&](std::size_t part, std::size_t first, std::size_t last) {
                         EXPECT_LT(part, parts > 0 ? parts : kImages);
                         EXPECT_EQ(busy[part].fetch_add(1), 0);
                         EXPECT_LE(last - first, 7u);
                         for (std::size_t image = first; image < last; ++image) ++seen[image];
                         --busy[part];
                     });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
        EXPECT_EQ(watcher.last, kImages);
    }
}

TEST(Visits, StopOnceTheyAreCancelled) {
    const Dataset data = images();
    for (const int patience : {0, 2}) {
        Watcher tiles(patience), blocks(patience);
        std::atomic<int> calls{0};
        const auto body = [&](std::size_t, std::size_t, std::size_t) { ++calls; };
        EXPECT_THROW(visit_tiles({.data = data, .progress = tiles, .stage = "x"}, 4, body), Interrupted);
        EXPECT_LE(calls, patience);
        calls = 0;
        EXPECT_THROW(visit_blocks({.data = data, .progress = blocks, .stage = "x"}, {.images = 7}, body),
                     Interrupted);
        EXPECT_LE(calls, patience);
    }
}

TEST(Visits, SumCountsOverTheRanksAfterTheLastImage) {
    const Dataset data = images();
    const auto found = on_ranks<std::vector<std::uint64_t>>(3, [&](std::shared_ptr<const Team> team) {
        const Dataset own = dealt(data, team);
        std::uint64_t seen = 0;
        std::vector<std::uint32_t> complete;  // filled after the last image
        std::vector<std::uint64_t> kept(1);
        visit_tiles({.data = own,
                     .progress = silent(),
                     .stage = "x",
                     .sums =
                         [&] {
                             VisitSums sums;
                             sums.add(seen);
                             sums.add(std::span(complete));
                             sums.keep(bytes_of(kept));
                             return sums;
                         },
                     .complete = [&] { complete.assign(2, 1); }},
                    1, [&](std::size_t, std::size_t first, std::size_t last) {
                        seen += last - first;
                        kept[0] += last - first;
                    });
        return std::vector<std::uint64_t>{seen, complete[0], complete[1], kept[0], own.images()};
    });
    for (const auto& own : found) {
        EXPECT_EQ(own[0], kImages);
        EXPECT_EQ(own[1], 3u);
        EXPECT_EQ(own[2], 3u);
        EXPECT_EQ(own[3], own[4]);
    }
}

TEST(Visits, ContinueFromTheSavedSumsOfAStoppedVisit) {
    MemoryCheckpoint first;
    const auto run = [&](MemoryCheckpoint& memory, Progress& progress, std::size_t& read) {
        const Dataset data =
            dealt(images(), std::make_shared<const Team>(Team{.comm = alone(), .checkpoint = &memory}));
        std::uint64_t sum = 0, recent = 0;
        visit_tiles({.data = data,
                     .progress = progress,
                     .stage = "x",
                     .sums =
                         [&] {
                             VisitSums sums;
                             sums.add(sum);
                             return sums;
                         },
                     .settle = [&] { sum += std::exchange(recent, 0); }},
                    1, [&](std::size_t, std::size_t begin, std::size_t end) {
                        read += end - begin;
                        for (std::size_t image = begin; image < end; ++image) recent += image;
                    });
        return sum;
    };
    std::size_t before = 0, after = 0;
    Watcher impatient(5);
    EXPECT_THROW(run(first, impatient, before), Interrupted);
    MemoryCheckpoint second(&first);
    EXPECT_EQ(run(second, silent(), after), kImages * (kImages - 1) / 2);
    EXPECT_GT(before, 0u);
    EXPECT_EQ(before + after, kImages);
}

TEST(VisitGroups, ProgressNeverGoesBackWhereThereIsACheckpoint) {
    MemoryCheckpoint memory;  // the groups are visited in several stretches
    const Dataset data =
        dealt(images(), std::make_shared<const Team>(Team{.comm = alone(), .checkpoint = &memory}));
    Watcher watcher;
    std::uint64_t seen = 0;
    std::mutex adding;
    visit_groups({.data = data,
                  .progress = watcher,
                  .stage = "x",
                  .pass = 1,
                  .passes = 3,
                  .sums =
                      [&] {
                          VisitSums sums;
                          sums.add(seen);
                          return sums;
                      }},
                 [&](const std::vector<std::uint32_t>& group) {
                     const std::lock_guard lock(adding);
                     seen += group.size();
                 });
    EXPECT_EQ(seen, kImages);
    EXPECT_GT(memory.saved().size(), 1u);
    EXPECT_EQ(watcher.last, 2 * kImages);
    EXPECT_EQ(watcher.all, 3 * kImages);
}

}  // namespace
}  // namespace kandinsky
