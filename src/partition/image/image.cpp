#include "partition/typed_options.hpp"

namespace kandinsky::partition::image {

extern const Method kMethod;
const Method kMethod{
    .name = "image",
    .summary = "one region for the whole image: right on average, but not at each place",
    .options = {},
    .fit =
        [](const PartitionInput& input) {
            return Partition{.region = std::vector<std::uint32_t>(input.grid.pixels(), 0), .regions = 1};
        },
    .order = 1,
};

}  // namespace kandinsky::partition::image

namespace kandinsky {

MethodChoice::MethodChoice(const ImageOptions&) : MethodChoice(partition::image::kMethod.name) {}

}  // namespace kandinsky
