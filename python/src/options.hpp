#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/calibrator.hpp>
#include <string>
#include <vector>

namespace kandinsky::python {

/// Parses options as in the command: `words` are its flags ("--kmeans-clusters", "6"), `arrays` the values of
/// options that the command reads from a file, by flag without dashes. `asked`: what is calibrated, METHOD or
/// METHOD:SCORE; empty: `method`. An option without effect on any of these is a usage error.
[[nodiscard]] CalibrateOptions options_of(const std::string& method, std::vector<std::string> words,
                                          nanobind::dict arrays, const std::vector<std::string>& asked = {});

// Other functions that use src/cli. Only options.cpp includes its headers, which take long to compile.
[[nodiscard]] std::string default_method();
[[nodiscard]] std::vector<std::string> remarks_of(const Calibrator& calibrator);

}  // namespace kandinsky::python
