#include "report/pixel_curves.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "report/blob.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr std::uint32_t kMostCurves = 1024;
constexpr std::size_t kCoarsest = 64;
constexpr unsigned kScoreSteps = 64;
// What packing leaves of noisy curves, with base64; only a first guess of the resolution that fits.
constexpr double kPacked = 0.4;

std::size_t parts(std::size_t length, std::size_t block) {
    return (length + block - 1) / block;
}

/// Scores as shares of their range; those of lac as they are.
class UnitScore {
  public:
    explicit UnitScore(const Calibrator& calibrator)
        : range_(score_range(calibrator.options.score, calibrator.classes)) {}
    double operator()(float score) const {
        return (static_cast<double>(score) - range_.low) / (static_cast<double>(range_.high) - range_.low);
    }

  private:
    ScoreRange range_;
};

std::size_t size_of_blobs(const std::vector<std::vector<ordered_json>>& blobs) {
    std::size_t bytes = 0;
    for (const auto& method : blobs)
        for (const ordered_json& one : method)
            if (one.is_object()) bytes += one["data"].get_ref<const std::string&>().size();
    return bytes;
}

/// The finest resolution, from a guess on, whose blobs fit into the limit.
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
}  // namespace

std::vector<std::uint8_t> coverage_blocks(const MethodTally& tally, std::size_t stratum, const Grid& grid,
                                          std::size_t block) {
    const std::size_t rows = parts(grid.height, block), columns = parts(grid.width, block);
    constexpr std::size_t kCounts = kCurveLevels + 1;
    std::vector<std::uint64_t> first(rows * columns * kCounts, 0);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        const std::size_t cell = p / grid.width / block * columns + p % grid.width / block;
        const std::uint32_t* const own = tally.first.data() + (stratum * grid.pixels() + p) * kCounts;
        for (std::size_t l = 0; l < kCounts; ++l) first[cell * kCounts + l] += own[l];
    }
    std::vector<std::uint8_t> out(kCurveLevels * rows * columns, 255);
    for (std::size_t cell = 0; cell < rows * columns; ++cell) {
        std::uint64_t total = 0, covered = 0;
        for (std::size_t l = 0; l < kCounts; ++l) total += first[cell * kCounts + l];
        for (std::size_t l = 0; l < kCurveLevels && total > 0; ++l) {
            covered += first[cell * kCounts + l];
            out[l * rows * columns + cell] =
                quantised(static_cast<double>(covered), static_cast<double>(total), 100);
        }
    }
    return out;
}

std::vector<std::uint8_t> threshold_samples(const Calibrator& calibrator, std::size_t stratum,
                                            std::size_t stride) {
    const Grid grid = calibrator.grid;
    const std::size_t rows = parts(grid.height, stride), columns = parts(grid.width, stride);
    const std::vector<double> alphas = curve_alphas();
    const UnitScore unit(calibrator);
    std::vector<std::uint8_t> out(alphas.size() * rows * columns);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
            const std::size_t y = std::min<std::size_t>(row * stride + stride / 2, grid.height - 1);
            const std::size_t x = std::min<std::size_t>(column * stride + stride / 2, grid.width - 1);
            const std::size_t curve = calibrator.curve_of(stratum, y * grid.width + x);
            for (std::size_t l = 0; l < alphas.size(); ++l) {
                const double score = unit(calibrator.curves[stratum].threshold(curve, alphas[l]));
                out[(l * rows + row) * columns + column] =
                    quantised(std::sqrt(std::max(score, 0.0)), 1, kScoreSteps);
            }
        }
    return out;
}

std::vector<std::uint16_t> curve_table(const Calibrator& calibrator, std::size_t stratum) {
    const CurveSet& curves = calibrator.curves[stratum];
    const UnitScore unit(calibrator);
    std::vector<std::uint16_t> out;
    for (std::size_t k = 0; k < curves.size(); ++k)
        for (const double alpha : slider_alphas()) {
            const double score = unit(curves.threshold(k, alpha));
            out.push_back(std::isfinite(score)
                              ? static_cast<std::uint16_t>(std::lround(std::clamp(score, 0.0, 1.0) * 65534))
                              : std::uint16_t{65535});
        }
    return out;
}

bool many_curves(const Calibrator& calibrator, std::size_t stratum) {
    return calibrator.partitions[stratum].regions > kMostCurves;
}

PixelCurves pixel_curves(const ReportInput& input, const Tally& tally, const ReportLimits& limits) {
    const Grid grid = input.test->grid();
    std::size_t planes = 0, many = 0;
    for (const Calibrator* calibrator : input.calibrators)
        for (std::size_t s = 0; s < calibrator->strata(); ++s) {
            planes += kCurveLevels;
            many += many_curves(*calibrator, s) ? kCurveLevels : 0;
        }
    const auto for_all = [&](auto&& one) {
        const std::size_t strata = input.calibrators.front()->strata();
        std::vector<std::vector<ordered_json>> out(input.calibrators.size(),
                                                   std::vector<ordered_json>(strata));
        parallel_for(out.size() * strata,
                     [&](std::size_t i) { out[i / strata][i % strata] = one(i / strata, i % strata); });
        return out;
    };
    PixelCurves out;
    const auto coverage = [&](std::size_t block) {
        const std::size_t rows = parts(grid.height, block), columns = parts(grid.width, block);
        return for_all([&](std::size_t m, std::size_t s) {
            return blob(coverage_blocks(tally.methods[m], s, grid, block), {kCurveLevels, rows, columns},
                        {rows * columns});
        });
    };
    out.block = finest(grid, planes, limits.curve_bytes, coverage, out.coverage);
    const auto thresholds = [&](std::size_t stride) {
        const std::size_t rows = parts(grid.height, stride), columns = parts(grid.width, stride);
        return for_all([&](std::size_t m, std::size_t s) {
            const Calibrator& calibrator = *input.calibrators[m];
            return many_curves(calibrator, s) ? blob(threshold_samples(calibrator, s, stride),
                                                     {kCurveLevels, rows, columns}, {rows * columns})
                                              : ordered_json(nullptr);
        });
    };
    out.stride = finest(grid, many, limits.own_bytes, thresholds, out.thresholds);
    return out;
}

}  // namespace kandinsky
