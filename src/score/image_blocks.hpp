#pragma once

#include <algorithm>
#include <kandinsky/dataset.hpp>
#include <kandinsky/error.hpp>
#include <string_view>

#include "core/parallel.hpp"

namespace kandinsky {

/// Runs visit(tile, begin, end) for tiles [0, tiles) in parallel, block of images after block of images in
/// [first, last): a block passes by all tiles before it is let go, so that every page of a file is mapped
/// once a walk however narrow the tiles are. Whoever loads the images keeps their pages.
template <class Visit>
void pass_images(const Dataset& data, std::size_t first, std::size_t last, std::size_t tiles,
                 Progress& progress, std::string_view stage, Visit&& visit) {
    constexpr std::size_t kBlock = 128;
    for (std::size_t begin = first; begin < last; begin += kBlock) {
        const std::size_t end = std::min(last, begin + kBlock);
        progress.update(stage, begin, data.images());
        data.prefetch(end, std::min(last, end + kBlock));
        parallel_for(tiles, [&](std::size_t tile) {
            if (progress.cancelled()) throw Interrupted();
            visit(tile, begin, end);
        });
        data.release(begin, end);
    }
    progress.update(stage, last, data.images());
}

}  // namespace kandinsky
