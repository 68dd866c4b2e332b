#include "evaluate/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "evaluate/count_kernels.hpp"
#include "evaluate/covering_level.hpp"

namespace kandinsky {

namespace {
// Coverage per region is kept for partitions that a reader could look through.
constexpr std::uint32_t kMostRegions = 1024;

/// counts[level] of samples that the level is the first to cover -> share covered at each level.
std::vector<double> shares(const std::uint64_t* first, std::size_t levels) {
    std::uint64_t total = 0;
    for (std::size_t l = 0; l <= levels; ++l) total += first[l];
    std::vector<double> out(levels, std::numeric_limits<double>::quiet_NaN());
    std::uint64_t covered = 0;
    for (std::size_t l = 0; l < levels && total > 0; ++l) {
        covered += first[l];
        out[l] = static_cast<double>(covered) / static_cast<double>(total);
    }
    return out;
}

void add_to(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& part) {
    for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}
}  // namespace

CoverageJudge::CoverageJudge(const Calibrator& calibrator, const EvaluateOptions& options,
                             const Dataset& data, const Resamples& resamples)
    : calibrator_(calibrator),
      options_(options),
      plan_(calibrator.options.released ? released_levels() : paper_levels()),
      by_curve_(thresholds_by_curve(calibrator, plan_.alphas)),
      at_alpha_(calibrator, options, data),
      resamples_(resamples) {
    if (resamples.count() > 0) resampled_.emplace(calibrator, plan_, data, resamples);
    const std::size_t strata = calibrator.strata(), pixels = calibrator.grid.pixels(),
                      levels = plan_.alphas.size();
    if (calibrator.options.released) {
        marginal_plan_ = released_marginal_levels();
        marginal_by_curve_ = thresholds_by_curve(calibrator, marginal_plan_.alphas);
        marginal_first_.assign(strata, std::vector<std::uint64_t>(marginal_plan_.alphas.size() + 1));
    }
    ce_.assign(strata, std::vector<double>(pixels));
    test_counts_.assign(strata * pixels, 0);
    overall_.assign(strata, std::vector<std::uint64_t>(levels + 1));
    regions_.resize(strata);
    for (std::size_t s = 0; s < strata; ++s)
        if (calibrator.partitions[s].regions <= kMostRegions)
            regions_[s].assign(calibrator.partitions[s].regions * (levels + 1), 0);
    sizes_.assign(levels, 0);
    empties_.assign(levels, 0);
}

CoverageJudge::Tile::Tile(CoverageJudge& judge, PixelRange range)
    : judge_(judge), range_(range), at_alpha_(judge.at_alpha_, range) {
    if (judge.resampled_) resampled_.emplace(*judge.resampled_, range.size());
    const Calibrator& calibrator = judge.calibrator_;
    const std::size_t n = range.size(), strata = calibrator.strata(), levels = judge.plan_.alphas.size();
    thresholds_.resize(strata * levels * n);
    fill_thresholds(calibrator, judge.by_curve_, range, levels, thresholds_.data());
    if (!judge.marginal_by_curve_.empty()) {
        marginal_.resize(strata * judge.marginal_plan_.alphas.size() * n);
        fill_thresholds(calibrator, judge.marginal_by_curve_, range, judge.marginal_plan_.alphas.size(),
                        marginal_.data());
        marginal_first_.assign(strata * (judge.marginal_plan_.alphas.size() + 1), 0);
    }
    tested_.assign(strata * n, 0);
    covered_.assign(strata * levels * n, 0);
    recent_tested_.assign(tested_.size(), 0);
    recent_covered_.assign(covered_.size(), 0);
    recent_.assign(strata, 0);
    rank_.resize(n);
    least_.resize(n);
    sizes_.assign(levels, 0);
    empties_.assign(levels, 0);
}

void CoverageJudge::Tile::unload(std::size_t s) {
    const auto move = [](std::uint8_t* from, std::size_t n, std::uint32_t* to) {
        for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
        std::fill(from, from + n, std::uint8_t{0});
    };
    const std::size_t n = range_.size(), levels = judge_.plan_.alphas.size();
    move(recent_tested_.data() + s * n, n, tested_.data() + s * n);
    move(recent_covered_.data() + s * levels * n, levels * n, covered_.data() + s * levels * n);
    recent_[s] = 0;
}

void CoverageJudge::Tile::add(const ScoredTile& tile, std::size_t image) {
    at_alpha_.add(tile, image);
    const Calibrator& calibrator = judge_.calibrator_;
    const std::size_t n = range_.size(), levels = judge_.plan_.alphas.size();
    const std::uint8_t* const valid = tile.valid();
    std::fill(least_.begin(), least_.end(), std::uint8_t{255});
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        const float* const scores = tile.scores(c);
        const std::uint8_t* const member = tile.member(c);
        first_covering_level(scores, thresholds_.data() + s * levels * n, levels, n, rank_.data());
        lower_to(rank_.data(), n, least_.data());
        count_covered(rank_.data(), valid, levels, n, sizes_.data());
        add_both(member, member, n, recent_tested_.data() + s * n);
        add_covered(rank_.data(), member, levels, n, recent_covered_.data() + s * levels * n);
        if (++recent_[s] == 255) unload(s);
        if (resampled_) resampled_->note(image, c, rank_.data(), member);
        if (marginal_.empty()) continue;
        const std::size_t points = judge_.marginal_plan_.alphas.size();
        first_covering_level(scores, marginal_.data() + s * points * n, points, n, rank_.data());
        for (std::size_t i = 0; i < n; ++i)
            if (member[i] != 0) ++marginal_first_[s * (points + 1) + rank_[i]];
    }
    valid_ += count_both(valid, valid, n);
    count_covered(least_.data(), valid, levels, n, empties_.data());
}

void CoverageJudge::Tile::settle() {
    for (std::size_t s = 0; s < recent_.size(); ++s) unload(s);
    at_alpha_.settle();
}

void CoverageJudge::Tile::tabulate() {
    if (resampled_) resampled_->tabulate();
}

void CoverageJudge::Tile::list(TileSums& sums) {
    sums.add(std::span(tested_));
    sums.add(std::span(covered_));
    sums.add(std::span(marginal_first_));
    sums.add(std::span(sizes_));
    sums.add(std::span(empties_));
    sums.add(valid_);
    at_alpha_.list(sums);
    if (resampled_) resampled_->list(sums);
}

void CoverageJudge::Tile::list_notes(TileSums& sums) {
    if (resampled_) resampled_->list_notes(sums);
}

void CoverageJudge::Tile::finish() {
    settle();
    at_alpha_.finish();
    if (resampled_) resampled_->finish();
    const Calibrator& calibrator = judge_.calibrator_;
    const std::size_t n = range_.size(), strata = calibrator.strata(), pixels = calibrator.grid.pixels();
    const std::size_t levels = judge_.plan_.alphas.size();
    // How many samples each level is the first to cover.
    const auto first = [&](std::size_t s, std::size_t i, std::size_t l) -> std::uint64_t {
        const std::uint32_t* const covered = covered_.data() + s * levels * n + i;
        return (l < levels ? covered[l * n] : tested_[s * n + i]) - (l > 0 ? covered[(l - 1) * n] : 0u);
    };
    std::vector<std::vector<std::uint64_t>> overall(strata, std::vector<std::uint64_t>(levels + 1));
    for (std::size_t s = 0; s < strata; ++s)
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t total = tested_[s * n + i];
            for (std::size_t l = 0; l <= levels; ++l) overall[s][l] += first(s, i, l);
            double error = 0;
            for (std::size_t l = 0; l < levels && total > 0; ++l)
                error += std::abs(static_cast<double>(covered_[(s * levels + l) * n + i]) /
                                      static_cast<double>(total) -
                                  judge_.plan_.targets[l]);
            judge_.test_counts_[s * pixels + range_.begin + i] = total;
            judge_.ce_[s][range_.begin + i] =
                total > 0 ? error / static_cast<double>(levels) : std::numeric_limits<double>::quiet_NaN();
        }
    const std::lock_guard lock(judge_.mutex_);
    for (std::size_t s = 0; s < strata; ++s) {
        add_to(judge_.overall_[s], overall[s]);
        if (!judge_.regions_[s].empty())
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t region = calibrator.partitions[s].region[range_.begin + i];
                for (std::size_t l = 0; l <= levels; ++l)
                    judge_.regions_[s][region * (levels + 1) + l] += first(s, i, l);
            }
        if (!marginal_.empty()) {
            const std::size_t points = judge_.marginal_plan_.alphas.size() + 1;
            for (std::size_t l = 0; l < points; ++l)
                judge_.marginal_first_[s][l] += marginal_first_[s * points + l];
        }
    }
    add_to(judge_.sizes_, sizes_);
    add_to(judge_.empties_, empties_);
    judge_.valid_ += valid_;
}

Evaluation CoverageJudge::finish() {
    const std::size_t pixels = calibrator_.grid.pixels(), levels = plan_.alphas.size();
    Evaluation out;
    out.targets = plan_.targets;
    std::map<std::uint32_t, double> floors;  // by test count: few distinct ones
    for (std::size_t s = 0; s < calibrator_.strata(); ++s) {
        StratumEvaluation one;
        std::vector<double> errors;
        double sum = 0, floor = 0, weighted = 0, enough = 0, enough_floor = 0, samples = 0;
        for (std::size_t p = 0; p < pixels; ++p) {
            const std::uint32_t n = test_counts_[s * pixels + p];
            if (n == 0) continue;
            errors.push_back(ce_[s][p]);
            sum += ce_[s][p];
            auto [known, fresh] = floors.try_emplace(n, 0.0);
            if (fresh)
                for (std::size_t l = 0; l < levels; ++l)
                    known->second +=
                        sampling_floor(n, plan_.levels[l], plan_.targets[l]) / static_cast<double>(levels);
            floor += known->second;
            weighted += n * ce_[s][p];
            samples += n;
            if (n < kEnoughSamples) continue;
            ++one.pixels_enough;
            enough += ce_[s][p];
            enough_floor += known->second;
        }
        one.pixels = errors.size();
        one.pixels_without_data = pixels - errors.size();
        const double none = std::numeric_limits<double>::quiet_NaN();
        one.mean_ce = errors.empty() ? none : sum / static_cast<double>(errors.size());
        one.floor = errors.empty() ? none : floor / static_cast<double>(errors.size());
        one.weighted_ce = errors.empty() ? none : weighted / samples;
        one.ce_enough = one.pixels_enough > 0 ? enough / static_cast<double>(one.pixels_enough) : none;
        one.floor_enough =
            one.pixels_enough > 0 ? enough_floor / static_cast<double>(one.pixels_enough) : none;
        if (resampled_ && !errors.empty()) {
            const std::vector<double> means = resampled_->means(s);
            one.mean_ce_interval = centred_interval(means, one.mean_ce);
            one.mean_ce_bias = bootstrap_bias(means, one.mean_ce);
        }
        one.q05 = quantile(errors, 0.05);
        one.q95 = quantile(errors, 0.95);
        one.coverage = shares(overall_[s].data(), levels);
        for (const std::uint64_t n : overall_[s]) one.samples += n;
        for (std::size_t r = 0; r * (levels + 1) < regions_[s].size(); ++r) {
            const std::uint64_t* const first = regions_[s].data() + r * (levels + 1);
            one.region_coverage.push_back(shares(first, levels));
            one.region_samples.push_back(0);
            for (std::size_t l = 0; l <= levels; ++l) one.region_samples.back() += first[l];
        }
        if (options_.maps) one.ce_map = std::move(ce_[s]);
        out.strata.push_back(std::move(one));
        if (!marginal_first_.empty())
            out.released_marginal.push_back(shares(marginal_first_[s].data(), marginal_plan_.alphas.size()));
    }
    const double all = static_cast<double>(valid_);
    for (std::size_t l = 0; l < levels; ++l) {
        out.set_sizes.push_back(static_cast<double>(sizes_[l]) / all);
        out.empty_shares.push_back(1.0 - static_cast<double>(empties_[l]) / all);
    }
    at_alpha_.finish(out, resamples_);
    return out;
}

}  // namespace kandinsky
