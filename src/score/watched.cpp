#include "score/watched.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/image_features.hpp>
#include <numeric>

#include "score/watch_kernels.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostClasses = 64, kMostFeatures = 400, kMostUnits = 1024, kWatchedRun = 8192;
constexpr std::size_t kMostBytes = std::size_t{400} << 10;
constexpr std::uint32_t kBlocks = 4;
constexpr double kLeastWatched = 1.0 / 4096;  // as in image_features()

struct Sums {
    std::uint64_t mass = 0, inside = 0, odds_in = 0, odds_out = 0, roughness = 0;

    void add(const WatchCounts& one) {
        mass += one.mass;
        inside += one.inside;
        odds_in += one.odds_in;
        odds_out += one.odds_out;
        roughness += one.roughness;
    }
};

/// The rectangle of rows [top, bottom) and columns [left, right).
Sums sums_of(const float* plane, std::size_t width, std::size_t top, std::size_t bottom, std::size_t left,
             std::size_t right) {
    Sums sums;
    for (std::size_t x = left; x < right; x += kWatchedRun) {
        const std::size_t n = std::min(kWatchedRun, right - x),
                          rows = std::max<std::size_t>(1, kWatchedRun / n);
        for (std::size_t y = top; y < bottom; y += rows)
            sums.add(count_watched(plane + y * width + x, n, std::min(rows, bottom - y), width, y > 0));
    }
    return sums;
}

std::int64_t fixed(double value) {
    return std::llround(value * static_cast<double>(kWatchUnit));
}

double mean(std::uint64_t sum, double unit, std::uint64_t count) {
    return count > 0 ? static_cast<double>(sum) / (unit * static_cast<double>(count)) : 0.0;
}
}  // namespace

Reference watch_layout(Grid grid, std::size_t classes, bool exclusive,
                       std::span<const std::uint64_t> counts) {
    Reference layout;
    layout.classes.resize(classes);
    std::iota(layout.classes.begin(), layout.classes.end(), 0u);
    if (classes == 2 && exclusive) layout.classes = {1};
    if (classes > kMostClasses) {
        if (!counts.empty())
            std::stable_sort(layout.classes.begin(), layout.classes.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
        layout.classes.resize(kMostClasses);
        std::sort(layout.classes.begin(), layout.classes.end());
    }
    for (layout.blocks = kBlocks;
         layout.blocks > 0 && (layout.features() > kMostFeatures || grid.height < 2 * layout.blocks ||
                               grid.width < 2 * layout.blocks);
         layout.blocks /= 2) {
    }
    if (layout.blocks == 1) layout.blocks = 0;  // the whole image is watched anyway
    return layout;
}

std::size_t most_units(const Reference& layout) {
    return std::min(kMostUnits, kMostBytes / (sizeof(float) * layout.features()));
}

void watch_image(const Reference& layout, Grid grid, std::span<const float> probs,
                 std::span<std::int64_t> out) {
    const std::size_t pixels = grid.pixels(), blocks = std::max<std::size_t>(1, layout.blocks);
    std::int64_t* to = out.data();
    for (const std::uint32_t c : layout.classes) {
        const std::span<const float> plane = probs.subspan(c * pixels, pixels);
        const ImageFeatures own = image_features(plane);
        std::int64_t* const whole = to;
        to += Reference::kWhole;
        Sums all;
        for (std::size_t by = 0; by < blocks; ++by)
            for (std::size_t bx = 0; bx < blocks; ++bx) {
                const std::size_t top = block_begin(by, blocks, grid.height),
                                  bottom = block_begin(by + 1, blocks, grid.height),
                                  left = block_begin(bx, blocks, grid.width),
                                  right = block_begin(bx + 1, blocks, grid.width);
                const Sums sums = sums_of(plane.data(), grid.width, top, bottom, left, right);
                all.mass += sums.mass, all.inside += sums.inside, all.roughness += sums.roughness;
                all.odds_in += sums.odds_in, all.odds_out += sums.odds_out;
                if (layout.blocks > 0)
                    *to++ = fixed(
                        std::log2(mean(sums.mass, 4096, (bottom - top) * (right - left)) + kLeastWatched));
            }
        for (std::size_t k = 0; k < ImageFeatures::kBasic; ++k) whole[k] = fixed(own.values[k]);
        const double inner = mean(all.odds_in, 256, all.inside),
                     outer = -mean(all.odds_out, 256, pixels - all.inside);
        whole[4] = fixed(inner);
        whole[5] = fixed(outer);
        whole[6] = fixed(inner + outer);
        whole[7] = fixed(std::log2(mean(all.roughness, 4096, pixels) + kLeastWatched) - own.values[0]);
    }
}

}  // namespace kandinsky
