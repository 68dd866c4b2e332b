#pragma once

#include <kandinsky/calibrator.hpp>
#include <vector>

#include "support/synthetic.hpp"

namespace kandinsky::test {

/// Three calibrators and the images to test them on.
struct Tested {
    Made test = make({.images = 30, .classes = 3, .grid = {9, 31}, .seed = 2, .ignored = 0.1});
    Dataset data = test.dataset();
    std::vector<Calibrator> calibrators;
    std::vector<const Calibrator*> pointers;

    explicit Tested(const CalibrateOptions& with = {}) {
        const Made calibration = make({.images = 40, .classes = 3, .grid = {9, 31}, .seed = 1});
        for (const char* method : {"pixel", "image", "kmeans"}) {
            CalibrateOptions options = with;
            options.method.name = method;
            calibrators.push_back(calibrate(calibration.dataset(), options));
        }
        for (const Calibrator& one : calibrators) pointers.push_back(&one);
    }
};

}  // namespace kandinsky::test
