#pragma once

#include <kandinsky/dataset.hpp>
#include <string>

namespace kandinsky::python {

/// A data set whose arrays may belong to Python.
struct Data {
    Dataset set;
};

/// The meaning of a parameter's word; throws a usage error for an unknown word.
[[nodiscard]] Logits logits_of(const std::string& name);

}  // namespace kandinsky::python
