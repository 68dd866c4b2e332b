#include "report/tally.hpp"

#include <algorithm>
#include <kandinsky/error.hpp>
#include <mutex>

#include "core/parallel.hpp"
#include "evaluate/covering_level.hpp"
#include "evaluate/level_plan.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 128;  // the thresholds of 99 levels stay in the nearest cache
using Counts = std::vector<std::uint64_t>;

std::vector<double> evenly(std::size_t parts) {
    std::vector<double> alphas;
    for (std::size_t m = 1; m < parts; ++m)
        alphas.push_back(static_cast<double>(parts - m) / static_cast<double>(parts));
    return alphas;
}

/// The first curve level that covers what the slider level `rank` is the first to cover.
std::size_t curve_level(std::size_t rank) {
    constexpr std::size_t kStep = (kSliderLevels + 1) / (kCurveLevels + 1);
    return rank / kStep;
}

struct MethodPlan {
    ThresholdTable slider, at_alpha;
};

/// Sums of one tile for one calibrator.
struct MethodTile {
    std::vector<float> slider, at_alpha;
    std::vector<Counts> first;  ///< [stratum][slider level]
    Counts size_first, empty_first;

    MethodTile(const Calibrator& calibrator, const MethodPlan& plan, PixelRange range)
        : slider(calibrator.strata() * kSliderLevels * range.size()),
          at_alpha(calibrator.strata() * range.size()),
          first(calibrator.strata(), Counts(kSliderLevels + 1)),
          size_first(kSliderLevels + 1),
          empty_first(kSliderLevels + 1) {
        fill_thresholds(calibrator, plan.slider, range, kSliderLevels, slider.data());
        fill_thresholds(calibrator, plan.at_alpha, range, 1, at_alpha.data());
    }
};

/// Adds the running sums of `first` to `out`: how many are covered at each level.
void accumulate(const Counts& first, Counts& out) {
    std::uint64_t covered = 0;
    for (std::size_t l = 0; l < out.size(); ++l) out[l] += covered += first[l];
}

/// Adds, for each level, how many are not yet covered there.
void accumulate_rest(const Counts& first, Counts& out) {
    std::uint64_t rest = 0;
    for (const std::uint64_t count : first) rest += count;
    for (std::size_t l = 0; l < out.size(); ++l) out[l] += rest -= first[l];
}
}  // namespace

std::vector<double> slider_alphas() {
    return evenly(kSliderLevels + 1);
}

std::vector<double> curve_alphas() {
    return evenly(kCurveLevels + 1);
}

Tally tally(const Dataset& test, const std::vector<const Calibrator*>& calibrators, double alpha,
            Progress& progress) {
    const std::size_t pixels = test.grid().pixels(), classes = test.classes();
    Tally out;
    out.labelled.assign(pixels, 0);
    out.samples.assign(classes * pixels, 0);
    out.undecided.assign(test.images(), 0);
    std::vector<MethodPlan> plans;
    for (const Calibrator* calibrator : calibrators) {
        plans.push_back(
            {thresholds_by_curve(*calibrator, slider_alphas()), thresholds_by_curve(*calibrator, {alpha})});
        MethodTally& method = out.methods.emplace_back();
        method.covered.assign(calibrator->strata(), Counts(kSliderLevels));
        method.members.assign(kSliderLevels, 0);
        method.empty.assign(kSliderLevels, 0);
        method.first.assign(calibrator->strata() * pixels * (kCurveLevels + 1), 0);
        method.set_sums.assign(pixels, 0);
    }
    std::vector<std::uint8_t> shown(test.images() * classes, 0);
    std::mutex mutex;
    const std::size_t tiles = (pixels + kTile - 1) / kTile;
    parallel_for(tiles, progress, "report", [&](std::size_t number) {
        const PixelRange range{number * kTile, std::min(pixels, (number + 1) * kTile)};
        const std::size_t n = range.size();
        std::vector<MethodTile> sums;
        for (std::size_t m = 0; m < calibrators.size(); ++m)
            sums.emplace_back(*calibrators[m], plans[m], range);
        ScoredTile tile(test, calibrators.front()->options.score, n);
        std::vector<std::uint8_t> rank(n), least(n), size(n);
        Counts undecided(test.images(), 0);
        std::vector<std::uint8_t> seen(shown.size(), 0);
        std::uint64_t labels = 0;
        for (std::size_t image = 0; image < test.images(); ++image) {
            if (progress.cancelled()) throw Interrupted();
            tile.load(image, range);
            const std::uint8_t* const valid = tile.valid();
            for (std::size_t i = 0; i < n; ++i) {
                out.labelled[range.begin + i] += valid[i] != 0;
                labels += valid[i] != 0;
            }
            for (std::size_t c = 0; c < classes; ++c)
                for (std::size_t i = 0; i < n; ++i)
                    if (tile.member(c)[i] != 0) {
                        ++out.samples[c * pixels + range.begin + i];
                        seen[image * classes + c] = 1;
                    }
            for (std::size_t m = 0; m < calibrators.size(); ++m) {
                MethodTally& method = out.methods[m];
                MethodTile& sum = sums[m];
                std::fill(least.begin(), least.end(), std::uint8_t{255});
                std::fill(size.begin(), size.end(), std::uint8_t{0});
                for (std::size_t c = 0; c < classes; ++c) {
                    const std::size_t s = calibrators[m]->stratum_of(c);
                    first_covering_level(tile.scores(c), sum.slider.data() + s * kSliderLevels * n,
                                         kSliderLevels, n, rank.data());
                    std::uint32_t* const first =
                        method.first.data() + (s * pixels + range.begin) * (kCurveLevels + 1);
                    for (std::size_t i = 0; i < n; ++i) {
                        least[i] = std::min(least[i], rank[i]);
                        size[i] += tile.scores(c)[i] <= sum.at_alpha[s * n + i];
                        if (valid[i] != 0) ++sum.size_first[rank[i]];
                        if (tile.member(c)[i] != 0) {
                            ++sum.first[s][rank[i]];
                            ++first[i * (kCurveLevels + 1) + curve_level(rank[i])];
                        }
                    }
                }
                for (std::size_t i = 0; i < n; ++i) {
                    if (valid[i] == 0) continue;
                    ++sum.empty_first[least[i]];
                    method.set_sums[range.begin + i] += size[i];
                    if (m == 0) undecided[image] += size[i] != 1;
                }
            }
        }
        const std::lock_guard lock(mutex);
        out.labels += labels;
        for (std::size_t i = 0; i < undecided.size(); ++i) out.undecided[i] += undecided[i];
        for (std::size_t i = 0; i < seen.size(); ++i) shown[i] |= seen[i];
        for (std::size_t m = 0; m < calibrators.size(); ++m) {
            for (std::size_t s = 0; s < sums[m].first.size(); ++s)
                accumulate(sums[m].first[s], out.methods[m].covered[s]);
            accumulate(sums[m].size_first, out.methods[m].members);
            accumulate_rest(sums[m].empty_first, out.methods[m].empty);
        }
    });
    for (std::size_t image = 0; image < test.images(); ++image)
        out.kinds.push_back(static_cast<std::uint64_t>(
            std::count(shown.begin() + static_cast<std::ptrdiff_t>(image * classes),
                       shown.begin() + static_cast<std::ptrdiff_t>((image + 1) * classes), std::uint8_t{1})));
    return out;
}

}  // namespace kandinsky
