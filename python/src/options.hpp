#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky::python {

/// Options as the command reads them: `words` are its flags ("--kmeans-clusters", "6"), `arrays` the values
/// of options that the command reads from a file, by flag without dashes.
[[nodiscard]] CalibrateOptions options_of(const std::string& method, std::vector<std::string> words,
                                          nanobind::dict arrays);

// Other things of src/cli. Only options.cpp includes its headers, which take long to compile.
[[nodiscard]] std::string default_method();
[[nodiscard]] std::vector<std::string> remarks_of(const Calibrator& calibrator);

}  // namespace kandinsky::python
