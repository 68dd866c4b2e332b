#include <algorithm>

#include "core/base/fail.hpp"
#include "partition/typed_options.hpp"

namespace kandinsky::partition::mask {

extern const Method kMethod;
using Type = MethodOption::Type;

namespace {
/// The user's own regions, [H,W] for all classes or [C,H,W]; any numbers from 0 on, renumbered in order.
Partition fit(const PartitionInput& input) {
    const auto found = input.settings == nullptr ? std::map<std::string, Array>::const_iterator{}
                                                 : input.settings->arrays.find("mask");
    if (input.settings == nullptr || found == input.settings->arrays.end())
        fail(ErrorKind::usage, "method 'mask' needs a region map: add `mask REGIONS.npy`");
    const Array& map = found->second;
    const auto& shape = map.shape();
    const bool per_class = shape.size() == 3;
    const bool fits = (shape.size() == 2 || per_class) && shape[shape.size() - 2] == input.grid.height &&
                      shape.back() == input.grid.width;
    if (!fits || !is_integer(map.dtype()))
        fail(ErrorKind::data,
             "the region map is {} {}, but must be integers of shape [{}, {}] or [classes, {}, {}]",
             name_of(map.dtype()), map.view().shape_text(), input.grid.height, input.grid.width,
             input.grid.height, input.grid.width);
    if (per_class && shape[0] != input.strata)
        fail(ErrorKind::data,
             "the region map has {} planes, but there {} to calibrate; give one plane for each, or [H,W] for "
             "all",
             shape[0],
             input.strata == 1 ? std::string("is one curve for all classes")
                               : fmt::format("are {} classes", input.strata));

    const std::size_t pixels = input.grid.pixels();
    ArrayView plane = map.view();
    if (per_class) {
        plane.data = plane.at(input.stratum);
        plane.shape.erase(plane.shape.begin());
        plane.strides.erase(plane.strides.begin());
    }
    const std::vector<std::int64_t> values = Array(plane).to_vector<std::int64_t>();
    std::vector<std::int64_t> names = values;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (names.front() < 0) {
        const auto where =
            static_cast<std::size_t>(std::find(values.begin(), values.end(), names.front()) - values.begin());
        fail(ErrorKind::data, "the region map has {} at row {}, column {}; region numbers start at 0",
             names.front(), where / input.grid.width, where % input.grid.width);
    }
    Partition partition;
    partition.regions = static_cast<std::uint32_t>(names.size());
    partition.region.resize(pixels);
    for (std::size_t p = 0; p < pixels; ++p)
        partition.region[p] = static_cast<std::uint32_t>(
            std::lower_bound(names.begin(), names.end(), values[p]) - names.begin());
    partition.geometry = fmt::format(R"({{"kind": "mask", "names": [{}]}})", fmt::join(names, ", "));
    return partition;
}
}  // namespace

const Method kMethod{
    .name = "mask",
    .summary = "your own region map: prior knowledge of where the model behaves in the same way",
    .options = {{"mask", Type::array, "", "region map for method mask: integers, [H,W] or [C,H,W]"}},
    .fit = fit,
    .order = 90,
};

}  // namespace kandinsky::partition::mask

namespace kandinsky {

MethodChoice::MethodChoice(const MaskOptions& options) : MethodChoice(partition::mask::kMethod.name) {
    if (!options.mask.empty()) settings.arrays.emplace("mask", options.mask);
}

}  // namespace kandinsky
