#pragma once

#include <kandinsky/compare.hpp>
#include <memory>

namespace kandinsky::python {

/// The result of `kandinsky compare`, with the test images for a report.
struct Contest {
    std::shared_ptr<const Comparison> core;
    std::shared_ptr<const Dataset> calibration, test;
    EmptySets empty = EmptySets::automatic;  ///< of the sets that were judged
};

}  // namespace kandinsky::python
