#include <kandinsky/scenes.hpp>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "scene/preset.hpp"

namespace kandinsky {

namespace {
struct Preset {
    std::string_view name;
    std::size_t classes;
    Grid grid;
    void (*make)(std::uint64_t seed, std::uint64_t scene, const scene::Frame& frame,
                 const scene::ScenePlanes& out);
    bool grouped;
};

constexpr Preset kPresets[] = {
    {"photo", scene::kPhotoClasses, scene::kPhotoGrid, scene::make_photo, false},
    {"medical", scene::kMedicalClasses, scene::kMedicalGrid, scene::make_medical, true},
};

constexpr std::uint32_t kShortestSide = 8, kLongestSide = 8192;
// The patients of scenes below this number fit into int32, the type of the groups.
constexpr std::size_t kSceneLimit = 1'000'000'000;

const Preset& preset_of(const SceneOptions& options) {
    for (const Preset& preset : kPresets)
        if (preset.name == options.preset) return preset;
    fail(ErrorKind::usage, "[scenes] there is no preset '{}'; choose photo or medical", options.preset);
}

Grid grid_of(const SceneOptions& options, const Preset& preset) {
    if (options.grid == Grid{}) return preset.grid;
    for (const std::uint32_t side : {options.grid.height, options.grid.width})
        if (side < kShortestSide || side > kLongestSide)
            fail(ErrorKind::usage,
                 "[scenes] the grid is {} x {} (height x width), but its sides must be from {} to {}",
                 options.grid.height, options.grid.width, kShortestSide, kLongestSide);
    return options.grid;
}
}  // namespace

Scenes make_scenes(const SceneOptions& options, Progress& progress) {
    const Preset& preset = preset_of(options);
    const Grid grid = grid_of(options, preset);
    if (options.images == 0)
        fail(ErrorKind::usage, "[scenes] the number of images is 0, but must be at least 1");
    if (options.images > kSceneLimit || options.first > kSceneLimit - options.images)
        fail(ErrorKind::usage, "[scenes] {} images from number {} on go beyond the last scene, {}; use fewer",
             options.images, options.first, kSceneLimit - 1);

    const std::size_t pixels = grid.pixels();
    Scenes scenes;
    scenes.probs = Array::zeros(DType::float16, {options.images, preset.classes, grid.height, grid.width});
    scenes.labels = Array::zeros(DType::uint8, {options.images, grid.height, grid.width});
    auto* probs = reinterpret_cast<std::uint16_t*>(scenes.probs.mutable_data());
    auto* labels = reinterpret_cast<std::uint8_t*>(scenes.labels.mutable_data());
    const scene::Frame frame(grid);
    const std::size_t values = preset.classes * pixels;
    parallel_for(options.images, progress, "making scenes", [&](std::size_t i) {
        preset.make(options.seed, options.first + i, frame,
                    {std::span(probs + i * values, values), std::span(labels + i * pixels, pixels)});
    });
    if (preset.grouped) {
        std::vector<std::int32_t> groups(options.images);
        for (std::size_t i = 0; i < groups.size(); ++i)
            groups[i] = static_cast<std::int32_t>(scene::slice_of(options.seed, options.first + i).patient);
        scenes.groups = Array::copy_of(groups, {groups.size()});
    }
    return scenes;
}

}  // namespace kandinsky
