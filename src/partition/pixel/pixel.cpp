#include <numeric>
#include "partition/typed_options.hpp"

namespace kandinsky::partition::pixel {

extern const Method kMethod;
const Method kMethod{
    .name = "pixel",
    .summary = "every pixel is its own region: right with tens of thousands of images, noisy with few",
    .pixelwise = true,
    .options = {},
    .fit =
        [](const PartitionInput& input) {
            Partition partition;
            partition.regions = static_cast<std::uint32_t>(input.grid.pixels());
            partition.region.resize(input.grid.pixels());
            std::iota(partition.region.begin(), partition.region.end(), 0u);
            return partition;
        },
    .order = 0,
};

}  // namespace kandinsky::partition::pixel

namespace kandinsky {

MethodChoice::MethodChoice(const PixelOptions&) : MethodChoice(partition::pixel::kMethod.name) {}

}  // namespace kandinsky
