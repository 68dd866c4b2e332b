#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/score.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/team/checkpoint.hpp"
#include "core/team/communicator.hpp"

namespace kandinsky {

/// Pixels in tiles of equal length; the last may be shorter.
struct Tiles {
    std::size_t pixels = 0, length = 1;

    [[nodiscard]] std::size_t count() const { return (pixels + length - 1) / length; }
    [[nodiscard]] PixelRange operator[](std::size_t tile) const {
        return {tile * length, std::min(pixels, (tile + 1) * length)};
    }
};

/// The memory that a visit of images adds to: a checkpoint saves all of it, and ranks sum the counts in a few
/// large messages.
class VisitSums {
  public:
    void add(std::span<std::uint32_t> counts) { narrow_.push_back(counts); }
    void add(std::span<std::uint64_t> counts) { wide_.push_back(counts); }
    void add(std::span<std::int64_t> counts) {
        wide_.emplace_back(reinterpret_cast<std::uint64_t*>(counts.data()), counts.size());
    }
    void add(std::uint64_t& count) { wide_.emplace_back(&count, 1); }
    /// The memory for this rank's own images, which is not summed.
    void keep(std::span<std::byte> bytes) { own_.push_back(bytes); }

    [[nodiscard]] State state() const;
    void sum(Communicator& comm) const;

  private:
    std::vector<std::span<std::uint32_t>> narrow_;
    std::vector<std::span<std::uint64_t>> wide_;
    std::vector<std::span<std::byte>> own_;
};

/// One reading of all images of this rank. Every function below releases the pages of finished images (a body
/// must not release them), reports progress, throws Interrupted once the caller has cancelled, and saves the
/// sums if there is a checkpoint. All except visit_groups() read ahead.
struct Visit {
    const Dataset& data;
    Progress& progress;
    std::string_view stage;            ///< in progress reports and checkpoints
    std::size_t pass = 0, passes = 1;  ///< for progress, where the images are read several times
    /// The score that the body reads, or null. visit_tiles() first computes its parts that need whole images.
    const ScoreOptions* score = nullptr;
    /// Returns the memory that the visit adds to, zero on entry. Called before the first image for the
    /// checkpoint, and after the last image to sum the counts over the ranks. If empty, nothing is saved or
    /// summed.
    std::function<VisitSums()> sums{};
    /// Called after each run of images: completes the counts that `sums` refers to.
    std::function<void()> settle{};
    /// Called after the last image, before counts are summed over the ranks.
    std::function<void()> complete{};

    void stop_if_cancelled() const;
};

/// For bodies that keep counts for each pixel. Calls body(tile, first, last) for all tiles [0, tiles) in
/// parallel, one block of images [first, last) after the other. Each page of a file is therefore read once,
/// however narrow the tiles are. Calls for one tile are sequential, in the order of the images.
void visit_tiles(const Visit& visit, std::size_t tiles,
                 const std::function<void(std::size_t, std::size_t, std::size_t)>& body);

/// How visit_blocks() divides the images.
struct Blocks {
    std::size_t images = 1;  ///< images of a block, together some megabytes of the file
    std::size_t parts = 0;   ///< number of bodies that run at a time, numbered from 0; 0: any number
};

/// For bodies that keep counts for each image, or write a result for each image. Calls body(part, first,
/// last) for blocks of images [first, last) in parallel. If `parts` is above 0, each block belongs to a part
/// below `parts`, and calls for one part are sequential. If it is 0, the part is the number of the block.
/// With a checkpoint the numbers start again several times, so a body must not keep anything by this number.
void visit_blocks(const Visit& visit, Blocks blocks,
                  const std::function<void(std::size_t, std::size_t, std::size_t)>& body);

/// For bodies that need all images of a group at once. Calls body(images) for each group, in parallel.
/// Progress counts groups.
void visit_groups(const Visit& visit, const std::function<void(const std::vector<std::uint32_t>&)>& body);

}  // namespace kandinsky
