#include "partition/fcc/check.hpp"

#include <cmath>

#include "core/base/fail.hpp"

namespace kandinsky::partition::fcc {

namespace {
void require(const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
        fail(ErrorKind::usage, "Fourier curves: {} is {}, but must be from {} to {}", name, value, low, high);
}
}  // namespace

void check(const FourierOptions& options) {
    require("curves", options.curves, 1, 16);
    require("order", options.order, 1, 32);
    require("penalty", options.penalty, 0, 1e6);
    require("angles", options.angles, 8, 4096);
    require("nodes", options.nodes, 1, 128);
    require("starts", options.starts, 1, 1000);
    require("iterations", options.iterations, 0, 1e6);
}

void check(const FourierField& field) {
    const std::size_t pixels = field.grid.pixels();
    if (field.counts.size() != pixels || field.features.size() != pixels * field.feature_count)
        fail(ErrorKind::data,
             "Fourier curves: {} counts and {} feature values do not fit a grid of {} x {} with {} features",
             field.counts.size(), field.features.size(), field.grid.height, field.grid.width,
             field.feature_count);
}

bool too_small(const FourierField& field) {
    return field.grid.width < 3 || field.grid.height < 3 || field.feature_count == 0;
}

}  // namespace kandinsky::partition::fcc
