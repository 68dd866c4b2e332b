#include "score/watched.hpp"

#include <algorithm>
#include <array>
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

/// Adds rows [top, bottom) to the sums. Adds to mass[b] the sum of p, in units of 1/4096, of the b-th block
/// of columns.
void add_rows(const float* plane, std::size_t width, std::size_t top, std::size_t bottom, Sums& sums,
              std::span<std::int64_t> mass) {
    for (std::size_t left = 0; left < width; left += kWatchedRun) {
        const std::size_t n = std::min(kWatchedRun, width - left), rows = kWatchedRun / n;
        std::array<std::uint32_t, kWatchedRun> columns;  // the first n
        std::fill_n(columns.begin(), n, 0u);
        for (std::size_t y = top; y < bottom; y += rows) {
            const std::size_t high = std::min(rows, bottom - y);
            sums.add(count_watched(plane + y * width + left, n, high, width, y > 0, columns.data()),
                     n * high);
        }
        for (std::size_t b = 0; b < mass.size(); ++b) {
            const std::size_t first = std::clamp(block_begin(b, mass.size(), width), left, left + n),
                              last = std::clamp(block_begin(b + 1, mass.size(), width), left, left + n);
            mass[b] = std::accumulate(columns.begin() + static_cast<std::ptrdiff_t>(first - left),
                                      columns.begin() + static_cast<std::ptrdiff_t>(last - left), mass[b]);
        }
    }
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
    for (std::size_t by = 0; by < blocks; ++by) {
        const std::size_t top = block_begin(by, blocks, grid.height),
                          bottom = block_begin(by + 1, blocks, grid.height);
        const std::span<std::int64_t> mass =
            out.subspan(Reference::kWhole + by * layout.blocks, layout.blocks);
        std::fill(mass.begin(), mass.end(), 0);
        add_rows(plane, grid.width, top, bottom, all, mass);
        for (std::size_t bx = 0; bx < mass.size(); ++bx) {
            const std::size_t columns =
                block_begin(bx + 1, blocks, grid.width) - block_begin(bx, blocks, grid.width);
            const double share = mean(static_cast<std::uint64_t>(mass[bx]), 4096, (bottom - top) * columns);
            mass[bx] = fixed(std::log2(share + kLeastWatched));
        }
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
