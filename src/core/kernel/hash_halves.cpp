#include <algorithm>

#include "core/kernel/half_to_float.hpp"
#include "core/kernel/hash.hpp"
#include "core/kernel/hash_lanes.hpp"

namespace kandinsky {

bool hash_halves(std::span<const std::array<const std::byte*, 4>> planes, std::size_t n,
                 std::array<std::uint64_t, 4>& hashes) {
    constexpr std::size_t kPiece = 512;  // few enough that floats never leave the nearest cache
    float floats[4][kPiece];
    std::array<const unsigned char*, 4> from{};
    std::array<HashLanes, 4> lanes{HashLanes(hashes[0]), HashLanes(hashes[1]), HashLanes(hashes[2]),
                                   HashLanes(hashes[3])};
    bool fine = true;
    for (const std::array<const std::byte*, 4>& plane : planes)
        for (std::size_t begin = 0; begin < n; begin += kPiece) {
            const std::size_t count = std::min(kPiece, n - begin);
            for (std::size_t k = 0; k < 4; ++k) {
                fine = unit_half_to_float(plane[k] + 2 * begin, count, floats[k]) && fine;
                from[k] = reinterpret_cast<const unsigned char*>(floats[k]);
            }
            (void)take_four(from, count * sizeof(float), lanes);
        }
    const std::size_t bytes = planes.size() * n * sizeof(float);
    for (std::size_t k = 0; k < 4; ++k) hashes[k] = lanes[k].finish(nullptr, bytes, bytes);
    return fine;
}

}  // namespace kandinsky
