#include "problem.hpp"

#include <algorithm>

#include "core/kernel/half.hpp"

namespace kandinsky::fuzz {

namespace {

constexpr std::uint8_t kIgnored = 255;

/// Mostly methods without a long search, because the others take a thousand times as long.
std::string read_method(Bytes& bytes) {
    static const std::vector<std::string> fast{"pixel", "image", "kmeans", "mask"}, all = method_names();
    const std::uint8_t choice = bytes.byte();
    return choice >= 250 ? all[choice % all.size()] : fast[choice % fast.size()];
}

CalibrateOptions read_options(Bytes& bytes, std::size_t classes) {
    CalibrateOptions options;
    options.method.name = read_method(bytes);
    options.condition = bytes.flag() ? Condition::none : Condition::by_class;
    options.pooling = bytes.flag() ? Pooling::pixels : Pooling::groups;
    options.fallback = bytes.below(4) == 1 ? Fallback::image : Fallback::none;
    options.min_count = bytes.below(6);
    options.score.kind = static_cast<ScoreKind>(bytes.below(6));
    options.score.randomized = bytes.below(4) == 1 && options.score.kind != ScoreKind::lac &&
                               options.score.kind != ScoreKind::margin &&
                               options.score.kind != ScoreKind::near;
    options.score.raps_kreg = bytes.below(static_cast<std::uint32_t>(classes) + 1);
    options.rungs = bytes.below(16) == 1 ? 0 : 2 + bytes.below(40);
    options.split = bytes.below(4) == 1 ? 0.5 : 0.0;
    options.released = bytes.below(8) == 1;
    options.seed = bytes.byte();
    options.quantiles = {0.3, 0.9};
    options.memory = 1 << 16;
    // Searches are as short as their options allow, so that a million runs are possible.
    options.method.settings.text = {
        {"genann-generations", "2"}, {"genann-population", "8"}, {"genann-radii", "1"},
        {"kmeans-clusters", "2"},    {"kmeans-restarts", "1"},   {"fcc-curves", "1"},
        {"fcc-order", "1"},          {"fcc-iterations", "2"},    {"fcc-starts", "1"},
        {"field-folds", "2"},        {"field-bins", "8"}};
    return options;
}

float probability(std::uint8_t byte, DType dtype) {
    const float value = static_cast<float>(byte) / 255;
    return dtype == DType::float16 ? round_to_half(value) : value;
}

}  // namespace

bool Problem::labelled(std::size_t image, std::size_t pixel) const {
    return overlapping || truth[image * grid.pixels() + pixel] != kIgnored;
}

bool Problem::has(std::size_t image, std::size_t klass, std::size_t pixel) const {
    if (!overlapping) return truth[image * grid.pixels() + pixel] == klass;
    if (planes > 1) return truth[(image * planes + klass) * grid.pixels() + pixel] != 0;
    return (truth[image * grid.pixels() + pixel] != 0) == (klass == 1);
}

Dataset Problem::dataset(bool backwards) const {
    const auto ordered = [&](auto values) {
        if (!backwards) return values;
        const std::size_t each = values.size() / images;
        auto out = values;
        for (std::size_t n = 0; n < images; ++n)
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(n * each), each,
                        out.begin() + static_cast<std::ptrdiff_t>((images - 1 - n) * each));
        return out;
    };
    const std::vector<std::size_t> shape{images, planes, grid.height, grid.width};
    Array stored = Array::zeros(dtype, shape);
    const std::vector<float> values = ordered(probs);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::byte* const to = stored.mutable_data() + i * size_of(dtype);
        if (dtype == DType::uint8)
            *to = static_cast<std::byte>(values[i] * 255 + 0.5f);
        else if (dtype == DType::float16)
            reinterpret_cast<std::uint16_t*>(stored.mutable_data())[i] = float_to_half(values[i]);
        else
            reinterpret_cast<float*>(stored.mutable_data())[i] = values[i];
    }
    std::vector<std::size_t> truth_shape{images, grid.height, grid.width};
    if (overlapping) truth_shape.insert(truth_shape.begin() + 1, planes);
    return {stored, Array::copy_of(ordered(truth), truth_shape),
            groups.empty() ? Array{} : Array::copy_of(ordered(groups), {images}), DatasetOptions{}};
}

Problem read_problem(Bytes& bytes) {
    Problem problem;
    problem.images = bytes.between(1, 8);
    problem.planes = bytes.between(1, 4);
    problem.grid = {bytes.between(1, 6), bytes.between(1, 6)};
    problem.overlapping = bytes.below(4) == 1;
    problem.dtype = std::array{DType::float32, DType::float16, DType::uint8}[bytes.below(3)];
    problem.judge = bytes.below(8) == 1;
    const std::uint32_t groups = bytes.below(5);
    problem.options = read_options(bytes, problem.classes());
    std::vector<std::uint8_t> map(problem.grid.pixels());
    for (std::size_t p = 0; p < map.size(); ++p) map[p] = static_cast<std::uint8_t>(p % 3);
    problem.options.method.settings.arrays["mask"] =
        Array::copy_of(map, {problem.grid.height, problem.grid.width});
    for (std::size_t n = 0; groups > 0 && n < problem.images; ++n)
        problem.groups.push_back(static_cast<std::int32_t>(bytes.below(groups)));
    const std::size_t pixels = problem.images * problem.grid.pixels();
    const auto classes = static_cast<std::uint32_t>(problem.classes());
    // One byte for the truth of each pixel, one for each probability. After the end of the input, bytes
    // follow a fixed pattern.
    std::uint8_t filler = 1;
    const auto next = [&] {
        filler = static_cast<std::uint8_t>(filler * 5 + 3);
        return bytes.empty() ? filler : bytes.byte();
    };
    for (std::size_t i = 0; i < pixels * (problem.overlapping ? problem.planes : 1); ++i) {
        const std::uint8_t byte = next();
        problem.truth.push_back(problem.overlapping ? byte & 1
                                : byte >= 250       ? kIgnored
                                                    : static_cast<std::uint8_t>(byte % classes));
    }
    for (std::size_t i = 0; i < pixels * problem.planes; ++i)
        problem.probs.push_back(probability(next(), problem.dtype));
    return problem;
}

}  // namespace kandinsky::fuzz
