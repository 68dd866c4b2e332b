#include "score/watched.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "score/feature_kernels.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostClasses = 64, kMostFeatures = 400, kMostUnits = 1024, kWatchedRun = 8192;
constexpr std::size_t kMostBytes = std::size_t{400} << 10;
constexpr std::uint32_t kBlocks = 4;
constexpr double kLeastWatched = 1.0 / 4096;  // as in image_features()

struct Sums {
    FeatureTotals features;
    std::uint64_t likely = 0, odds_in = 0, odds_out = 0, roughness = 0;
    bool valid = true;  ///< all values are probabilities

    void add(const WatchCounts& one, std::size_t pixels) {
        features.add(one.features, pixels);
        likely += one.likely;
        odds_in += one.odds_in;
        odds_out += one.odds_out;
        roughness += one.roughness;
        valid = valid && one.invalid == 0;
    }
};

/// Adds the rectangle of rows [top, bottom) and columns [left, right); returns its sum of p in units of
/// 1/4096.
std::uint64_t add_rectangle(const float* plane, std::size_t width, std::size_t top, std::size_t bottom,
                            std::size_t left, std::size_t right, Sums& sums) {
    std::uint64_t mass = 0;
    for (std::size_t x = left; x < right; x += kWatchedRun) {
        const std::size_t n = std::min(kWatchedRun, right - x),
                          rows = std::max<std::size_t>(1, kWatchedRun / n);
        for (std::size_t y = top; y < bottom; y += rows) {
            const std::size_t high = std::min(rows, bottom - y);
            const WatchCounts one = count_watched(plane + y * width + x, n, high, width, y > 0);
            sums.add(one, n * high);
            mass += one.features.mass;
        }
    }
    return mass;
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

bool watch_class(const Reference& layout, Grid grid, const float* plane, std::span<std::int64_t> out) {
    const std::size_t pixels = grid.pixels(), blocks = std::max<std::size_t>(1, layout.blocks);
    Sums all;
    std::int64_t* to = out.data() + Reference::kWhole;
    for (std::size_t by = 0; by < blocks; ++by)
        for (std::size_t bx = 0; bx < blocks; ++bx) {
            const std::size_t top = block_begin(by, blocks, grid.height),
                              bottom = block_begin(by + 1, blocks, grid.height),
                              left = block_begin(bx, blocks, grid.width),
                              right = block_begin(bx + 1, blocks, grid.width);
            const std::uint64_t mass = add_rectangle(plane, grid.width, top, bottom, left, right, all);
            if (layout.blocks > 0)
                *to++ = fixed(std::log2(mean(mass, 4096, (bottom - top) * (right - left)) + kLeastWatched));
        }
    const ImageFeatures own = image_features(all.features);
    for (std::size_t k = 0; k < ImageFeatures::kBasic; ++k) out[k] = fixed(own.values[k]);
    const double inner = mean(all.odds_in, 256, all.likely),
                 outer = -mean(all.odds_out, 256, pixels - all.likely);
    out[4] = fixed(inner);
    out[5] = fixed(outer);
    out[6] = fixed(inner + outer);
    out[7] = fixed(std::log2(mean(all.roughness, 4096, pixels) + kLeastWatched) - own.values[0]);
    return all.valid;
}

void watch_image(const Reference& layout, Grid grid, std::span<const float> probs,
                 std::span<std::int64_t> out) {
    for (std::size_t i = 0; i < layout.classes.size(); ++i)
        (void)watch_class(layout, grid, probs.data() + layout.classes[i] * grid.pixels(),
                          out.subspan(i * layout.per_class(), layout.per_class()));
}

}  // namespace kandinsky
