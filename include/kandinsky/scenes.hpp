#pragma once

#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/grid.hpp>
#include <kandinsky/progress.hpp>

namespace KANDINSKY_API kandinsky {

/// The options of make_scenes().
struct SceneOptions {
    std::string preset = "photo";  ///< "photo" (320x240, two classes) or "medical" (an organ, patients)
    std::size_t images = 100;      ///< number of scenes
    std::uint64_t seed = 0;        ///< of the random numbers
    std::size_t first = 0;         ///< number of the first scene; scenes with other numbers are different
    Grid grid{};                   ///< sides from 8 to 8192; {}: the preset's own
};

/// Probability maps of a simulated network, and the truth.
struct Scenes {
    Array probs;   ///< float16 [N,C,H,W]
    Array labels;  ///< uint8 [N,H,W]
    Array groups;  ///< int32 [N]; empty for presets whose images are independent
};

/// Scene i depends on (preset, grid, seed, first + i) only. Throws a usage error for options out of range.
[[nodiscard]] Scenes make_scenes(const SceneOptions& options, Progress& progress = silent());

}  // namespace kandinsky
