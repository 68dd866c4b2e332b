#pragma once

#include <cstdint>
#include <kandinsky/export.hpp>
#include <string>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// Which pixels share their scores: a region number for every pixel.
struct Partition {
    std::vector<std::uint32_t> region;  ///< one per pixel, all below `regions`
    std::uint32_t regions = 0;          ///< number of regions
    /// How the regions were found, as a JSON object: shape parameters, objective, iterations. Stored with the
    /// calibrator, printed by `inspect` and drawn by the report.
    std::string geometry = "{}";
};

}  // namespace kandinsky
