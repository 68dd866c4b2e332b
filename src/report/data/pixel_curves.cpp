#include "report/data/pixel_curves.hpp"
#include "curve/curve_storage.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "core/base/parallel.hpp"
#include "report/data/blob.hpp"
#include "score/score_scale.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr std::uint32_t kMostCurves = 1024;
constexpr std::size_t kCoarsest = 64;
constexpr unsigned kScoreSteps = 64;
// The number of base64 bytes that a value of a noisy curve needs. The search for the resolution begins with
// this estimate.
constexpr double kPacked = 0.4;

std::size_t parts(std::size_t length, std::size_t block) {
    return (length + block - 1) / block;
}

std::size_t size_of_blobs(const std::vector<std::vector<ordered_json>>& blobs) {
    std::size_t bytes = 0;
    for (const auto& method : blobs)
        for (const ordered_json& one : method)
            if (one.is_object()) bytes += one["data"].get_ref<const std::string&>().size();
    return bytes;
}

/// Makes blobs with larger and larger steps, beginning with a guess, until they fit into the limit or the
/// step is kCoarsest. Returns the step.
template <class Make>
std::size_t finest(const Grid& grid, std::size_t planes, std::size_t limit, Make&& make,
                   std::vector<std::vector<ordered_json>>& out) {
    std::size_t step = 1;
    const auto guess = [&] {
        return kPacked * static_cast<double>(planes * parts(grid.height, step) * parts(grid.width, step));
    };
    while (step < kCoarsest && guess() > static_cast<double>(limit)) ++step;
    for (;; ++step) {
        out = make(step);
        if (step >= kCoarsest || size_of_blobs(out) <= limit) return step;
    }
}

constexpr std::size_t kOwn = 0, kImage = 1;  // indices into reference_methods()

/// The source of a reference method's curves: a method of the report, an additional calibrator, or neither.
struct Expected {
    std::optional<std::size_t> method;
    const Calibrator* calibrator = nullptr;
};

Expected reference(const ReportInput& input, std::size_t which) {
    const std::string& name = reference_methods()[which];
    for (std::size_t m = 0; m < input.calibrators.size(); ++m)
        if (input.calibrators[m]->options.method.name == name) return {.method = m};
    for (const Calibrator* one : input.references)
        if (one->options.method.name == name) return {.method = {}, .calibrator = one};
    return {};
}

ordered_json reference_json(const Expected& reference, ordered_json blobs) {
    if (reference.method) return {{"method", *reference.method}};
    if (reference.calibrator == nullptr) return nullptr;
    return {{"strata", std::move(blobs)}};
}
}  // namespace

const std::vector<std::string>& reference_methods() {
    static const std::vector<std::string> names{"pixel", "image"};
    return names;
}

std::vector<std::string> missing_references(const std::vector<const Calibrator*>& calibrators) {
    std::vector<std::string> missing;
    for (const std::string& name : reference_methods())
        if (std::none_of(calibrators.begin(), calibrators.end(),
                         [&](const Calibrator* one) { return one->options.method.name == name; }))
            missing.push_back(name);
    return missing;
}

double DrawnRange::place(double score) const {
    if (!std::isfinite(score)) return std::numeric_limits<double>::infinity();
    return std::clamp((score - low) / (high - low), 0.0, 1.0);
}

DrawnRange drawn_range(const std::vector<const Calibrator*>& calibrators) {
    double least = 0, most = 1;
    for (const Calibrator* calibrator : calibrators) {
        for (const SmoothCurves& curves : calibrator->smooth)
            if (!curves.empty() && !curves.without_data()) {
                // Scores begin one key above the origin.
                const SmoothStorage& storage = storage_of(curves);
                least = std::min(least, static_cast<double>(largest_score_at(storage.origin + 1)));
                most = std::max(most, static_cast<double>(storage.largest));
            }
        for (const CurveSet& curves : calibrator->curves)
            for (std::size_t k = 0; k < curves.size(); ++k) {
                // Ascending, so infinite values are last.
                const std::span<const float> values = curves.values(k);
                const auto end = std::find_if(values.rbegin(), values.rend(), [](float value) {
                                     return std::isfinite(value);
                                 }).base();
                if (end == values.begin()) continue;
                least = std::min(least, static_cast<double>(values.front()));
                most = std::max(most, static_cast<double>(*std::prev(end)));
            }
    }
    if (!std::isfinite(least)) least = 0;
    return {least < 0 ? -round_up(-least) : 0, most > 1 ? round_up(most) : 1};
}

std::vector<std::uint8_t> coverage_blocks(const MethodTally& tally, std::size_t stratum, const Grid& grid,
                                          std::size_t block) {
    const std::size_t rows = parts(grid.height, block), columns = parts(grid.width, block);
    std::vector<std::uint64_t> tested(rows * columns), covered(tested.size() * kCurveLevels);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        const std::size_t cell = p / grid.width / block * columns + p % grid.width / block;
        const std::size_t own = stratum * grid.pixels() + p;
        tested[cell] += tally.pixel_tested[own];
        for (std::size_t l = 0; l < kCurveLevels; ++l)
            covered[cell * kCurveLevels + l] += tally.pixel_covered[own * kCurveLevels + l];
    }
    std::vector<std::uint8_t> out(kCurveLevels * tested.size(), 255);
    for (std::size_t cell = 0; cell < tested.size(); ++cell)
        for (std::size_t l = 0; l < kCurveLevels && tested[cell] > 0; ++l)
            out[l * tested.size() + cell] = quantised(static_cast<double>(covered[cell * kCurveLevels + l]),
                                                      static_cast<double>(tested[cell]), 100);
    return out;
}

std::vector<std::uint8_t> threshold_samples(const Calibrator& calibrator, std::size_t stratum,
                                            std::size_t stride, const DrawnRange& range) {
    const Grid grid = calibrator.grid;
    const std::size_t rows = parts(grid.height, stride), columns = parts(grid.width, stride);
    const std::vector<double> alphas = read_alphas(calibrator, stratum, curve_alphas());
    std::vector<std::uint8_t> out(alphas.size() * rows * columns);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
            const std::size_t y = std::min<std::size_t>(row * stride + stride / 2, grid.height - 1);
            const std::size_t x = std::min<std::size_t>(column * stride + stride / 2, grid.width - 1);
            const std::size_t pixel = y * grid.width + x;
            std::vector<float> scores(alphas.size());
            const SmoothCurves* const smooth = calibrator.smooth_of(stratum);
            if (smooth == nullptr)
                for (std::size_t l = 0; l < alphas.size(); ++l)
                    scores[l] =
                        calibrator.curves[stratum].threshold(calibrator.curve_of(stratum, pixel), alphas[l]);
            else
                smooth->thresholds(alphas, {pixel, pixel + 1}, scores);
            for (std::size_t l = 0; l < alphas.size(); ++l)
                out[(l * rows + row) * columns + column] =
                    quantised(std::sqrt(range.place(static_cast<double>(scores[l]))), 1, kScoreSteps);
        }
    return out;
}

std::vector<std::uint16_t> curve_table(const Calibrator& calibrator, std::size_t stratum,
                                       const DrawnRange& range) {
    const CurveSet& curves = calibrator.curves[stratum];
    const std::vector<double> alphas = read_alphas(calibrator, stratum, slider_alphas());
    std::vector<std::uint16_t> out;
    for (std::size_t k = 0; k < curves.size(); ++k)
        for (const double alpha : alphas) {
            const auto score = static_cast<double>(curves.threshold(k, alpha));
            out.push_back(std::isfinite(score)
                              ? static_cast<std::uint16_t>(std::lround(range.place(score) * 65534))
                              : std::uint16_t{65535});
        }
    return out;
}

bool many_curves(const Calibrator& calibrator, std::size_t stratum) {
    return calibrator.partitions[stratum].regions > kMostCurves || calibrator.smooth_of(stratum) != nullptr;
}

PixelCurves pixel_curves(const ReportInput& input, const Tally& tally, const ReportLimits& limits) {
    const Grid grid = input.test->grid();
    const std::size_t methods = input.calibrators.size(), strata = input.calibrators.front()->strata();
    const Expected own = reference(input, kOwn), image = reference(input, kImage);
    // A reference with a curve per pixel is stored after the methods, in the form of methods with many
    // curves.
    std::vector<const Calibrator*> by_pixel = input.calibrators;
    if (own.calibrator != nullptr) by_pixel.push_back(own.calibrator);
    const auto goes_by_pixel = [&](std::size_t m, std::size_t s) {
        return m >= methods || many_curves(*by_pixel[m], s);
    };
    std::size_t many = 0;
    for (std::size_t m = 0; m < by_pixel.size(); ++m)
        for (std::size_t s = 0; s < strata; ++s) many += goes_by_pixel(m, s) ? kCurveLevels : 0;
    const auto for_all = [&](std::size_t count, auto&& one) {
        std::vector<std::vector<ordered_json>> out(count, std::vector<ordered_json>(strata));
        parallel_for(count * strata,
                     [&](std::size_t i) { out[i / strata][i % strata] = one(i / strata, i % strata); });
        return out;
    };
    PixelCurves out;
    std::vector<const Calibrator*> all = by_pixel;
    if (image.calibrator != nullptr) all.push_back(image.calibrator);
    out.range = drawn_range(all);
    const auto coverage = [&](std::size_t block) {
        const std::size_t rows = parts(grid.height, block), columns = parts(grid.width, block);
        return for_all(methods, [&](std::size_t m, std::size_t s) {
            return blob(coverage_blocks(tally.methods[m], s, grid, block), {kCurveLevels, rows, columns},
                        {rows * columns});
        });
    };
    out.block = finest(grid, methods * strata * kCurveLevels, limits.curve_bytes, coverage, out.coverage);
    const auto thresholds = [&](std::size_t stride) {
        const std::size_t rows = parts(grid.height, stride), columns = parts(grid.width, stride);
        return for_all(by_pixel.size(), [&](std::size_t m, std::size_t s) {
            return goes_by_pixel(m, s) ? blob(threshold_samples(*by_pixel[m], s, stride, out.range),
                                              {kCurveLevels, rows, columns}, {rows * columns})
                                       : ordered_json(nullptr);
        });
    };
    out.stride = finest(grid, many, limits.own_bytes, thresholds, out.thresholds);
    ordered_json own_blobs, image_blobs;
    if (own.calibrator != nullptr) {
        own_blobs = std::move(out.thresholds.back());
        out.thresholds.pop_back();
    }
    for (std::size_t s = 0; s < strata && image.calibrator != nullptr; ++s)
        image_blobs.push_back(blob(curve_table(*image.calibrator, s, out.range), {1, kSliderLevels}));
    out.references = {{"own", reference_json(own, std::move(own_blobs))},
                      {"image", reference_json(image, std::move(image_blobs))}};
    return out;
}

}  // namespace kandinsky
