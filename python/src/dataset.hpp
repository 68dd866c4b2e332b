#pragma once

#include <kandinsky/dataset.hpp>
#include <string>

namespace kandinsky::python {

/// A data set whose arrays may belong to Python.
struct Data {
    Dataset set;
};

/// What a parameter's word means; throws a usage error for another one.
[[nodiscard]] Logits logits_of(const std::string& name);

}  // namespace kandinsky::python
