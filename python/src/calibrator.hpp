#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/reference.hpp>
#include <memory>

namespace kandinsky::python {

/// A finished calibrator, shared by all objects made from it.
struct Calibrated {
    std::shared_ptr<const Calibrator> core;
    std::shared_ptr<const Reference> reference{};  ///< null if there is none
};

}  // namespace kandinsky::python
