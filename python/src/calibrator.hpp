#pragma once

#include <kandinsky/calibrator.hpp>
#include <memory>

namespace kandinsky::python {

/// A finished calibrator, shared by everything made from it.
struct Calibrated {
    std::shared_ptr<const Calibrator> core;
};

}  // namespace kandinsky::python
