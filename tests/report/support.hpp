#pragma once

#include <kandinsky/compare.hpp>

#include "support/synthetic.hpp"

namespace kandinsky::test {

/// A small comparison of three methods and two draws; class 2 is in no test image.
inline Comparison small_comparison(std::size_t draws = 2, Condition condition = Condition::by_class,
                                   std::vector<std::string> methods = {"pixel", "image", "kmeans"},
                                   std::vector<std::string> references = {}) {
    const Made calibration = make({.images = 20, .classes = 3, .seed = 1, .ignored = 0.1});
    const Made test = make({.images = 10, .classes = 3, .seed = 2, .ignored = 0.1, .absent = 2});
    CompareOptions options;
    options.calibrate.pooling = Pooling::pixels;
    options.calibrate.score = {};
    options.methods = std::move(methods);
    options.references = std::move(references);
    options.calibrate.condition = condition;
    options.sample = draws > 1 ? 8 : 0;
    options.draws = draws;
    return compare(calibration.dataset(), test.dataset(), options);
}

}  // namespace kandinsky::test
