#pragma once

#include <kandinsky/dataset.hpp>

namespace kandinsky::python {

/// A data set whose arrays may belong to Python.
struct Data {
    Dataset set;
};

}  // namespace kandinsky::python
