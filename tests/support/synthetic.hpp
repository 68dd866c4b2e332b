#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <vector>

#include "core/base/random.hpp"

namespace kandinsky::test {

/// The properties of a synthetic data set.
struct Recipe {
    std::size_t images = 12, classes = 2;
    Grid grid{3, 4};
    std::uint64_t seed = 1;
    std::size_t groups = 0;    ///< 0: none given
    double ignored = 0;        ///< share of ignored labels
    bool overlapping = false;  ///< masks instead of labels
    std::size_t steps = 0;     ///< probabilities are multiples of 1/steps, so that ties abound; 0: any float
    std::size_t absent = 99999;  ///< a class that no pixel has
};

/// Plain arrays in C order, and the data set over them. References compute from the arrays themselves.
struct Made {
    Recipe recipe;
    std::vector<float> probs;         ///< [N][C][pixel]
    std::vector<std::uint8_t> truth;  ///< labels [N][pixel], or masks [N][C][pixel]
    std::vector<std::int32_t> groups;

    [[nodiscard]] std::size_t pixels() const { return recipe.grid.pixels(); }
    [[nodiscard]] float prob(std::size_t n, std::size_t c, std::size_t p) const {
        return probs[(n * recipe.classes + c) * pixels() + p];
    }
    [[nodiscard]] bool has(std::size_t n, std::size_t c, std::size_t p) const {
        return recipe.overlapping ? truth[(n * recipe.classes + c) * pixels() + p] != 0
                                  : truth[n * pixels() + p] == c;
    }
    [[nodiscard]] bool valid(std::size_t n, std::size_t p) const {
        return recipe.overlapping || truth[n * pixels() + p] != 255;
    }
    [[nodiscard]] std::int64_t group(std::size_t n) const {
        return groups.empty() ? static_cast<std::int64_t>(n) : groups[n];
    }
    [[nodiscard]] Dataset dataset(const DatasetOptions& options = {}) const {
        const std::size_t n = recipe.images, h = recipe.grid.height, w = recipe.grid.width;
        std::vector<std::size_t> shape{n, h, w};
        if (recipe.overlapping) shape.insert(shape.begin() + 1, recipe.classes);
        return {Array::copy_of(probs, {n, recipe.classes, h, w}), Array::copy_of(truth, shape),
                groups.empty() ? Array{} : Array::copy_of(groups, {n}), options};
    }
    /// The same images in another order.
    [[nodiscard]] Made permuted(const std::vector<std::uint32_t>& order) const {
        Made out{recipe, {}, {}, {}};
        out.recipe.images = order.size();
        const auto copy = [&](const auto& from, auto& to) {
            const std::size_t each = from.size() / recipe.images;
            for (const std::uint32_t n : order)
                for (std::size_t i = 0; i < each; ++i) to.push_back(from[n * each + i]);
        };
        copy(probs, out.probs);
        copy(truth, out.truth);
        copy(groups, out.groups);
        return out;
    }
};

inline Made make(const Recipe& recipe) {
    Random random(recipe.seed, 77);
    Made made{recipe, {}, {}, {}};
    const std::size_t pixels = recipe.grid.pixels();
    const auto steps = static_cast<double>(recipe.steps);
    for (std::size_t i = 0; i < recipe.images * recipe.classes * pixels; ++i)
        made.probs.push_back(
            static_cast<float>(recipe.steps > 0 ? static_cast<double>(random.below(recipe.steps + 1)) / steps
                                                : random.uniform()));
    const std::size_t truths = recipe.images * pixels * (recipe.overlapping ? recipe.classes : 1);
    for (std::size_t i = 0; i < truths; ++i) {
        std::uint64_t value = random.below(recipe.overlapping ? 2 : recipe.classes);
        if (!recipe.overlapping && value == recipe.absent) value = (value + 1) % recipe.classes;
        if (!recipe.overlapping && random.uniform() < recipe.ignored) value = 255;
        made.truth.push_back(static_cast<std::uint8_t>(value));
    }
    for (std::size_t n = 0; recipe.groups > 0 && n < recipe.images; ++n)
        made.groups.push_back(static_cast<std::int32_t>(random.below(recipe.groups) * 7) - 5);
    return made;
}

/// A permutation of 0 .. n-1.
inline std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    Random random(seed, 5);
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

}  // namespace kandinsky::test
