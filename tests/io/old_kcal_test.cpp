#include <gtest/gtest.h>

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/kcal.hpp>

namespace kandinsky {
namespace {

/// Files of earlier format versions, never to be made anew: docs/versioning.md promises that they keep loading.
const std::filesystem::path kData = std::filesystem::path(KANDINSKY_SOURCE_DIR) / "tests" / "io" / "data";

@@BODY@@
}  // namespace
}  // namespace kandinsky
