#pragma once

#include <vector>

#include "partition/field/candidates.hpp"

namespace kandinsky::partition::field {

/// How far distributions depend on the place.
struct Locality {
    double place = 1;     ///< from 0, one distribution for the whole image, to 1
    bool support = true;  ///< where the class has little data, the image's distribution takes over by degrees
};

/// Every cell's blended distribution, cumulative, 1 at the last bin.
[[nodiscard]] Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
                          std::size_t bins, const Locality& locality = {});

/// The same as it is stored: multiples of 1/65536, rounded down, without the last bin.
[[nodiscard]] std::vector<std::uint16_t> stored(const Plane& blended);

}  // namespace kandinsky::partition::field
