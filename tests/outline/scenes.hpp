#pragma once

#include <cmath>
#include <kandinsky/cases.hpp>

#include "core/base/random.hpp"

namespace kandinsky::outline {

/// Discs with noisy probabilities, two classes, `slices` images to a group.
inline Dataset discs(std::size_t groups, std::size_t slices, std::uint64_t seed, std::size_t side = 16) {
    const std::size_t images = groups * slices, pixels = side * side;
    std::vector<float> probs(images * 2 * pixels);
    std::vector<std::uint8_t> labels(images * pixels);
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < images; ++i) {
        Random random(seed, 3, i);
        const double middle = static_cast<double>(side) / 2, r = random.uniform(2, middle - 2);
        const double x = random.uniform(middle - 2, middle + 2), y = random.uniform(middle - 2, middle + 2);
        const double shift = random.normal();
        for (std::size_t p = 0; p < pixels; ++p) {
            const double d =
                std::hypot(static_cast<double>(p % side) - x, static_cast<double>(p / side) - y) - r;
            labels[i * pixels + p] = d < 0;
            const double q = 1 / (1 + std::exp(2 * (d + shift) + 0.5 * random.normal()));
            probs[(2 * i + 1) * pixels + p] = static_cast<float>(q);
            probs[2 * i * pixels + p] = static_cast<float>(1 - q);
        }
        ids.push_back(static_cast<std::int64_t>(i / slices));
    }
    return {Array::copy_of(probs, {images, 2, side, side}), Array::copy_of(labels, {images, side, side}),
            slices > 1 ? Array::copy_of(ids, {images}) : Array()};
}

}  // namespace kandinsky::outline
