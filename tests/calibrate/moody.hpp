#pragma once

#include "support/synthetic.hpp"

namespace kandinsky::test {

/// Images that differ in difficulty; their probabilities show how hard they are.
inline Made moody(std::uint64_t seed, std::size_t images = 30, std::size_t classes = 2, Grid grid = {9, 8},
                  std::size_t groups = 0) {
    Made made = make({.images = images, .classes = classes, .grid = grid, .seed = seed, .groups = groups});
    Random random(seed, 99);
    const std::size_t pixels = made.pixels();
    for (std::size_t n = 0; n < images; ++n) {
        const double mood = random.uniform();
        for (std::size_t p = 0; p < pixels; ++p)
            for (std::size_t c = 0; c < classes; ++c) {
                const bool own = made.truth[n * pixels + p] == c;
                const double right = 1 - mood * random.uniform();
                made.probs[(n * classes + c) * pixels + p] =
                    static_cast<float>(own ? right : (1 - right) * random.uniform());
            }
    }
    return made;
}

/// The probabilities of an image, [class][pixel].
inline std::vector<float> image_of(const Made& made, std::size_t n) {
    const std::size_t each = made.recipe.classes * made.pixels();
    return {made.probs.begin() + static_cast<std::ptrdiff_t>(n * each),
            made.probs.begin() + static_cast<std::ptrdiff_t>((n + 1) * each)};
}

}  // namespace kandinsky::test
