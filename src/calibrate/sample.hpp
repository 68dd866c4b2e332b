#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <vector>

namespace kandinsky {

/// Image numbers, ascending, of a random sample of `count` groups (images where no groups are given). Who is
/// drawn follows from the group's id or the image's content, the seed and the number of the draw, never from
/// an image's position.
[[nodiscard]] std::vector<std::uint32_t> draw_sample(const Dataset& data,
                                                     const std::vector<std::uint64_t>& image_hash,
                                                     std::size_t count, std::uint64_t seed,
                                                     std::uint64_t draw);

}  // namespace kandinsky
