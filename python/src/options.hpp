#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky::python {

/// Options as the command reads them: `words` are its flags ("--kmeans-clusters", "6"), `arrays` the values
/// of options that the command reads from a file, by flag without dashes. `pooling` is the default of
/// --pooling.
[[nodiscard]] CalibrateOptions options_of(const std::string& method, std::vector<std::string> words,
                                          nanobind::dict arrays, const std::string& pooling);

}  // namespace kandinsky::python
