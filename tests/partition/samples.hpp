#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/dataset.hpp>
#include <numeric>
#include <vector>

#include "core/base/random.hpp"
#include "partition/histograms.hpp"
#include "partition/soft_method.hpp"

namespace kandinsky::partition {

/// Simulated outputs of a network for two classes. A pixel is foreground with probability `share(v, u)`, and
/// the score of its true class grows with `hardness(v, u)`. v and u in (0, 1) are its row and column,
/// relative to height and width.
struct Sample {
    using Map = std::function<double(double, double)>;
    std::uint32_t height = 12, width = 16;
    std::size_t images = 20;
    std::uint64_t seed = 1;
    Map share = [](double, double) { return 0.7; };
    Map hardness = [](double, double) { return 0.5; };
    std::vector<float> probs{};
    std::vector<std::uint8_t> labels{};
    std::vector<std::int32_t> groups{};  ///< none when empty

    Sample& draw() {
        probs.clear();
        labels.clear();
        for (std::size_t image = 0; image < images; ++image) {
            Random random(seed, 77, image);
            const double mood = random.uniform(0.5, 1.5);  // an image is hard or easy as a whole
            for (std::uint32_t y = 0; y < height; ++y)
                for (std::uint32_t x = 0; x < width; ++x) {
                    const double v = (y + 0.5) / height, u = (x + 0.5) / width;
                    const bool in = random.uniform() < share(v, u);
                    const double score =
                        std::clamp(std::pow(random.uniform(), 2.0) * hardness(v, u) * mood, 0.0, 1.0);
                    labels.push_back(in ? 1 : 0);
                    probs.push_back(static_cast<float>(in ? 1 - score : score));
                }
        }
        return *this;
    }

    [[nodiscard]] Dataset data() const {
        return Dataset(Array::copy_of(probs, {images, 1, height, width}),
                       Array::copy_of(labels, {images, height, width}),
                       groups.empty() ? Array() : Array::copy_of(groups, {images}));
    }

    /// The same images in another order.
    [[nodiscard]] Sample shuffled(std::uint64_t by) const {
        Sample other = *this;
        std::vector<std::size_t> order(images);
        std::iota(order.begin(), order.end(), std::size_t{0});
        Random random(by, 78);
        for (std::size_t i = images; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        const std::size_t pixels = std::size_t{height} * width;
        for (std::size_t i = 0; i < images; ++i) {
            const auto from = static_cast<std::ptrdiff_t>(order[i] * pixels),
                       size = static_cast<std::ptrdiff_t>(pixels),
                       to = static_cast<std::ptrdiff_t>(i * pixels);
            std::copy(probs.begin() + from, probs.begin() + from + size, other.probs.begin() + to);
            std::copy(labels.begin() + from, labels.begin() + from + size, other.labels.begin() + to);
            if (!groups.empty()) other.groups[i] = groups[order[i]];
        }
        return other;
    }
};

/// A data set with the other inputs of a soft method.
struct Given {
    Dataset data;
    Census census;
    MethodSettings settings{};

    explicit Given(const Sample& sample)
        : data(sample.data()), census(take_census(data, Condition::by_class, silent())) {}
    [[nodiscard]] SoftInput input(std::uint32_t stratum = 1, Pooling pooling = Pooling::pixels) const {
        return {.data = data,
                .census = census,
                .condition = Condition::by_class,
                .score = {},
                .strata = {stratum},
                .pooling = pooling,
                .ladder = Ladder::uniform(20),
                .seed = 0,
                .settings = &settings,
                .progress = silent()};
    }
};

/// The score grid of an input's only stratum.
inline ScoreGrid score_grid_of(const SoftInput& input, std::size_t bins) {
    return make_score_grids(input, input.strata, bins).front();
}
/// The counts of an input's only stratum.
inline FoldHistograms counts_of(const SoftInput& input, const ScoreGrid& grid, const Folds& folds,
                                const Cells& cells) {
    return count_scores(input, input.strata, {grid}, folds, cells).front();
}

}  // namespace kandinsky::partition
