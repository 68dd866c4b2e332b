#include "evaluate/alpha_judge.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/kernel/compare_kernels.hpp"
#include "core/team/team.hpp"
#include "evaluate/count_kernels.hpp"
#include "evaluate/level_plan.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kFewClasses = 8;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double share(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNone;
}

std::uint64_t total(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The lowest share among places with enough samples, from `first` on; the first of equals.
WorstPlace worst_of(const std::vector<std::uint64_t>& tested, const std::vector<std::uint64_t>& covered,
                    std::size_t first = 0) {
    WorstPlace worst;
    for (std::size_t i = first; i < tested.size(); ++i) {
        if (tested[i] < kEnoughSamples) continue;
        const double here = share(covered[i], tested[i]);
        if (!(here >= worst.coverage)) worst = {here, tested[i], i};
    }
    return worst;
}
/// quantile() of all ranks' shares together, n of them. Ranks look for the order statistics by counting, so
/// what they say does not grow with the images.
std::array<double, ImageCoverage::kLevels.size()> quantiles_of(Communicator& comm,
                                                               const std::vector<double>& shares,
                                                               std::uint64_t n) {
    constexpr std::size_t kCount = ImageCoverage::kLevels.size();
    std::array<double, kCount> out{};
    if (comm.size() == 1 || n == 0) {
        for (std::size_t k = 0; k < kCount; ++k) out[k] = quantile(shares, ImageCoverage::kLevels[k]);
        return out;
    }
    // The bits of numbers that are not negative ascend with them.
    std::vector<std::uint64_t> keys, wanted;
    for (const double one : shares) keys.push_back(std::bit_cast<std::uint64_t>(one));
    std::sort(keys.begin(), keys.end());
    const auto place = [&](std::size_t k) { return ImageCoverage::kLevels[k] * static_cast<double>(n - 1); };
    for (std::size_t k = 0; k < kCount; ++k) {
        const auto below = static_cast<std::uint64_t>(place(k));
        wanted.push_back(below + 1);
        wanted.push_back(std::min(below + 2, n));
    }
    const std::vector<std::uint64_t> found = select_ranks(comm, keys, wanted);
    for (std::size_t k = 0; k < kCount; ++k) {
        const auto low = std::bit_cast<double>(found[2 * k]), high = std::bit_cast<double>(found[2 * k + 1]);
        const double share_above = place(k) - std::floor(place(k));
        out[k] = wanted[2 * k] >= n ? low : low + (high - low) * share_above;
    }
    return out;
}
}  // namespace

AlphaJudge::AlphaJudge(const Calibrator& calibrator, const EvaluateOptions& options, const Dataset& data,
                       bool closely)
    : calibrator_(calibrator),
      options_(options),
      data_(data),
      by_curve_(thresholds_by_curve(calibrator, {options.alpha})),
      covered_(calibrator.strata() * calibrator.grid.pixels()),
      image_tested_(calibrator.strata(), ByImage(data.images())),
      image_covered_(image_tested_),
      image_valid_(data.images()),
      image_members_(data.images()),
      set_sums_(closely ? calibrator.grid.pixels() : 0),
      image_single_(closely ? data.images() : 0),
      size_samples_(calibrator.classes + 1),
      size_covered_(calibrator.classes + 1) {}

void AlphaJudge::add_atomically(std::uint64_t& to, std::uint64_t n) {
    if (n > 0) std::atomic_ref(to).fetch_add(n, std::memory_order_relaxed);
}

AlphaJudge::Tile::Tile(AlphaJudge& judge, PixelRange range)
    : judge_(judge),
      range_(range),
      limits_(judge.calibrator_.strata() * range.size()),
      in_set_(judge.calibrator_.classes * range.size()),
      size_(range.size()),
      few_(range.size()),
      recent_covered_(limits_.size()),
      recent_(judge.calibrator_.strata()),
      covered_(limits_.size()),
      size_samples_(judge.calibrator_.classes + 1),
      size_covered_(judge.calibrator_.classes + 1) {
    fill_thresholds(judge.calibrator_, judge.by_curve_, range, limits_.data());
}

void AlphaJudge::Tile::add(const ScoredTile& tile, std::size_t image) {
    if (judge_.calibrator_.classes <= kFewClasses)
        add_few(tile, image);
    else
        add_many(tile, image);
}

void AlphaJudge::Tile::add_few(const ScoredTile& tile, std::size_t image) {
    const Calibrator& calibrator = judge_.calibrator_;
    const std::size_t n = range_.size();
    const auto classes = static_cast<std::uint8_t>(calibrator.classes);
    std::fill(few_.begin(), few_.end(), std::uint8_t{0});
    for (std::size_t c = 0; c < classes; ++c) {
        std::uint8_t* const in = in_set_.data() + c * n;
        at_least(limits_.data() + calibrator.stratum_of(c) * n, tile.scores(c), n, in);
        add_both(in, in, n, few_.data());
    }
    const std::uint8_t* const labelled = tile.valid();
    const std::uint64_t valid = count_both(labelled, labelled, n);
    std::uint64_t members = 0;
    for (std::size_t c = 0; c < classes; ++c) members += count_both(in_set_.data() + c * n, labelled, n);
    empty_ += count_equal(few_.data(), 0, labelled, labelled, n);
    valid_ += valid;
    members_ += members;
    note_sizes(few_.data(), labelled, image);
    if (judge_.options_.empty == EmptySets::fill) {
        const std::uint64_t before = filled_;
        fill(tile, few_.data());
        members += filled_ - before;
    }
    add_atomically(judge_.image_valid_[image], valid);
    add_atomically(judge_.image_members_[image], members);
    for (std::size_t c = 0; c < classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        const std::uint8_t *const in = in_set_.data() + c * n, *const member = tile.member(c);
        add_both(member, in, n, recent_covered_.data() + s * n);
        if (++recent_[s] == 255) unload(s);
        std::uint64_t samples = 0, hits = 0;
        for (std::uint8_t size = 0; size <= classes; ++size) {
            const std::uint64_t all = count_equal(few_.data(), size, member, member, n);
            const std::uint64_t covered = size > 0 ? count_equal(few_.data(), size, member, in, n) : 0;
            size_samples_[size] += all;
            size_covered_[size] += covered;
            samples += all;
            hits += covered;
        }
        add_atomically(judge_.image_tested_[s][image], samples);
        add_atomically(judge_.image_covered_[s][image], hits);
    }
}

void AlphaJudge::Tile::unload(std::size_t s) {
    const std::size_t n = range_.size();
    for (std::size_t i = s * n; i < (s + 1) * n; ++i) {
        covered_[i] += recent_covered_[i];
        recent_covered_[i] = 0;
    }
    recent_[s] = 0;
}

void AlphaJudge::Tile::settle() {
    for (std::size_t s = 0; s < recent_.size(); ++s) unload(s);
}

void AlphaJudge::Tile::add_many(const ScoredTile& tile, std::size_t image) {
    const Calibrator& calibrator = judge_.calibrator_;
    const std::size_t n = range_.size();
    std::fill(size_.begin(), size_.end(), std::uint16_t{0});
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const float* const scores = tile.scores(c);
        const float* const limit = limits_.data() + calibrator.stratum_of(c) * n;
        std::uint8_t* const in = in_set_.data() + c * n;
        for (std::size_t i = 0; i < n; ++i) {
            in[i] = scores[i] <= limit[i];
            size_[i] = static_cast<std::uint16_t>(size_[i] + in[i]);
        }
    }
    std::uint64_t valid = 0, members = 0;
    const std::uint8_t* const labelled = tile.valid();
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t counts = labelled[i] != 0;
        valid += counts;
        members += counts * size_[i];
        empty_ += counts & (size_[i] == 0);
    }
    valid_ += valid;
    members_ += members;
    note_sizes(size_.data(), labelled, image);
    if (judge_.options_.empty == EmptySets::fill) {
        const std::uint64_t before = filled_;
        fill(tile, size_.data());
        members += filled_ - before;
    }
    add_atomically(judge_.image_valid_[image], valid);
    add_atomically(judge_.image_members_[image], members);
    for (std::size_t c = 0; c < calibrator.classes; ++c) {
        const std::size_t s = calibrator.stratum_of(c);
        const std::uint8_t *const in = in_set_.data() + c * n, *const member = tile.member(c);
        std::uint64_t samples = 0, hits = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (member[i] == 0) continue;
            ++samples;
            hits += in[i];
            covered_[s * n + i] += in[i];
            ++size_samples_[size_[i]];
            size_covered_[size_[i]] += in[i];
        }
        add_atomically(judge_.image_tested_[s][image], samples);
        add_atomically(judge_.image_covered_[s][image], hits);
    }
}

template <class Size>
void AlphaJudge::Tile::note_sizes(const Size* size, const std::uint8_t* labelled, std::size_t image) {
    if (judge_.set_sums_.empty()) return;
    std::uint32_t* const sums = judge_.set_sums_.data() + range_.begin;
    std::uint32_t single = 0;
    for (std::size_t i = 0; i < range_.size(); ++i) {
        sums[i] += std::uint32_t{labelled[i]} * size[i];
        single += std::uint32_t{labelled[i]} & (size[i] == 1);
    }
    add_atomically(judge_.image_single_[image], single);
}

/// The most probable class enters the empty sets. What it covers is told apart: plain coverage has none of
/// it.
template <class Size>
void AlphaJudge::Tile::fill(const ScoredTile& tile, Size* size) {
    const std::size_t n = range_.size(), classes = judge_.calibrator_.classes;
    for (std::size_t i = 0; i < n; ++i) {
        if (size[i] != 0) continue;
        std::size_t best = 0;
        for (std::size_t c = 1; c < classes; ++c)
            if (tile.probs(c)[i] > tile.probs(best)[i]) best = c;
        in_set_[best * n + i] = 1;
        size[i] = 1;
        filled_ += tile.valid()[i] != 0;
        filled_covered_ += tile.member(best)[i];
    }
}

void AlphaJudge::Tile::finish() {
    const std::size_t n = range_.size(), pixels = judge_.calibrator_.grid.pixels();
    for (std::size_t s = 0; s < judge_.calibrator_.strata(); ++s)
        std::copy_n(covered_.data() + s * n, n, judge_.covered_.data() + s * pixels + range_.begin);
    const std::lock_guard lock(judge_.mutex_);
    for (std::size_t k = 0; k < size_samples_.size(); ++k) {
        judge_.size_samples_[k] += size_samples_[k];
        judge_.size_covered_[k] += size_covered_[k];
    }
    judge_.valid_ += valid_;
    judge_.members_ += members_;
    judge_.empty_ += empty_;
    judge_.filled_covered_ += filled_covered_;
    judge_.filled_ += filled_;
}

void AlphaJudge::Tile::list(VisitSums& sums) {
    sums.add(std::span(covered_));
    if (!judge_.set_sums_.empty()) sums.add(std::span(judge_.set_sums_).subspan(range_.begin, range_.size()));
    sums.add(std::span(size_samples_));
    sums.add(std::span(size_covered_));
    for (std::uint64_t* one : {&valid_, &members_, &empty_, &filled_covered_, &filled_}) sums.add(*one);
}

void AlphaJudge::list_images(VisitSums& sums) {
    for (std::size_t s = 0; s < image_tested_.size(); ++s) {
        sums.keep(bytes_of(image_tested_[s]));
        sums.keep(bytes_of(image_covered_[s]));
    }
    sums.keep(bytes_of(image_valid_));
    sums.keep(bytes_of(image_members_));
    sums.keep(bytes_of(image_single_));
}

std::vector<std::uint64_t> AlphaJudge::undecided() const {
    ByImage out = image_valid_;
    for (std::size_t image = 0; image < out.size(); ++image) out[image] -= image_single_[image];
    return out;
}

ImageCoverage AlphaJudge::image_coverage(const ByImage& tested, const ByImage& covered) const {
    ImageCoverage out;
    std::vector<double> shares;
    std::uint64_t below = 0;
    for (std::size_t image = 0; image < tested.size(); ++image) {
        if (tested[image] == 0) continue;
        shares.push_back(share(covered[image], tested[image]));
        // 1 - 0.9 is not 0.1: a share that is meant to be equal is not below.
        below += shares.back() < 1 - options_.alpha - 1e-12;
    }
    Communicator& comm = data_.team().comm;
    out.images = kandinsky::total(comm, shares.size());
    out.below = share(kandinsky::total(comm, below), out.images);
    out.quantiles = quantiles_of(comm, shares, out.images);
    return out;
}

std::vector<std::uint64_t> AlphaJudge::by_group(const ByImage& images) const {
    std::vector<std::uint64_t> out(data_.groups());
    for (std::size_t image = 0; image < images.size(); ++image) out[data_.group_of(image)] += images[image];
    return out;
}

void AlphaJudge::finish_stratum(std::size_t s, std::span<const std::uint32_t> pixel_tested,
                                StratumEvaluation& out, const Resamples& resamples) const {
    const Grid grid = calibrator_.grid;
    const Partition& partition = calibrator_.partitions[s];
    std::vector<std::uint64_t> region_tested(partition.regions), region_covered(partition.regions),
        block_tested(kBlocks * kBlocks), block_covered(kBlocks * kBlocks);
    for (std::size_t p = 0; p < grid.pixels(); ++p) {
        const std::size_t block =
            p / grid.width * kBlocks / grid.height * kBlocks + p % grid.width * kBlocks / grid.width;
        region_tested[partition.region[p]] += pixel_tested[s * grid.pixels() + p];
        region_covered[partition.region[p]] += covered_[s * grid.pixels() + p];
        block_tested[block] += pixel_tested[s * grid.pixels() + p];
        block_covered[block] += covered_[s * grid.pixels() + p];
    }
    out.coverage_at_alpha = share(total(block_covered), total(block_tested));
    out.worst_region = worst_of(region_tested, region_covered);
    out.worst_block = worst_of(block_tested, block_covered);
    out.image_coverage = image_coverage(image_tested_[s], image_covered_[s]);
    if (resamples.count() > 0)
        out.coverage_interval =
            percentile_interval(resamples.ratios(by_group(image_covered_[s]), by_group(image_tested_[s])));
}

void AlphaJudge::finish(Evaluation& out, std::span<const std::uint32_t> pixel_tested,
                        const Resamples& resamples) const {
    ByImage tested(data_.images()), covered(data_.images());
    for (std::size_t s = 0; s < calibrator_.strata(); ++s) {
        finish_stratum(s, pixel_tested, out.strata[s], resamples);
        for (std::size_t image = 0; image < tested.size(); ++image) {
            tested[image] += image_tested_[s][image];
            covered[image] += image_covered_[s][image];
        }
    }
    out.alpha = options_.alpha;
    const std::uint64_t hits = kandinsky::total(data_.team().comm, total(covered)),
                        samples = kandinsky::total(data_.team().comm, total(tested));
    out.coverage_at_alpha = share(hits, samples);
    out.plain_coverage = share(hits - filled_covered_, samples);
    out.set_size = share(members_ + filled_, valid_);
    out.plain_set_size = share(members_, valid_);
    out.empty_share = share(empty_ - filled_, valid_);
    out.filled_share = share(filled_, valid_);
    out.size_samples = size_samples_;
    for (std::size_t k = 0; k < size_samples_.size(); ++k)
        out.size_coverage.push_back(share(size_covered_[k], size_samples_[k]));
    out.worst_size = worst_of(size_samples_, size_covered_, 1);  // an empty set covers nothing anyway
    out.image_coverage = image_coverage(tested, covered);
    for (const float threshold : score_thresholds(calibrator_, options_.alpha))
        out.infinite += std::isinf(threshold) && threshold > 0;
    if (resamples.count() == 0) return;
    out.coverage_interval = percentile_interval(resamples.ratios(by_group(covered), by_group(tested)));
    out.set_size_interval =
        percentile_interval(resamples.ratios(by_group(image_members_), by_group(image_valid_)));
}

}  // namespace kandinsky
