#include "partition/field/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

std::vector<double> smoothed_counts(const Cells& cells, std::span<const float> counts, double sd) {
    // The first bin has the scores, the second the pixels, both divided by the pixels of a full cell. After
    // smoothing, the second is the part of the kernel inside the border.
    Plane plane(cells.grid(), 2);
    const auto full = static_cast<float>(cells.side() * cells.side());
    for (std::size_t p = 0; p < counts.size(); ++p) {
        plane.at(p)[1] = static_cast<float>(cells.area(p)) / full;
        plane.at(p)[0] = counts[p] * plane.at(p)[1];
    }
    const Plane smoothed = gaussian(plane, sd);
    std::vector<double> mean(counts.size());
    for (std::size_t p = 0; p < mean.size(); ++p)
        mean[p] = static_cast<double>(smoothed.at(p)[0]) / static_cast<double>(smoothed.at(p)[1]);
    return mean;
}

std::vector<double> prevalence(const Cells& cells, std::span<const float> counts, double sd) {
    std::vector<double> z = smoothed_counts(cells, counts, sd);
    for (double& value : z) value = std::log(value + 0.25);
    return z;
}

RingSums::RingSums(const Cells& cells, const Plane& votes, std::span<const double> z)
    : depth(votes.bins), own(kBins * depth), mirror(kBins * depth) {
    const auto [least, most] = std::minmax_element(z.begin(), z.end());
    low = *least;
    step = (*most - *least) / (kBins - 1);
    const std::size_t width = votes.grid.width;
    const std::vector<BetweenCells> mirrored = cells.mirrored_columns();
    const double whole = 2 * cells.side();
    std::vector<std::uint8_t> bin_of(z.size());
    for (std::size_t p = 0; p < z.size(); ++p)
        bin_of[p] = static_cast<std::uint8_t>(step > 0 ? std::lround((z[p] - low) / step) : 0);
    // Every task sums some of the score bins over all pixels, in the pixels' order.
    constexpr std::size_t kStretch = 32;
    parallel_for((depth + kStretch - 1) / kStretch, [&](std::size_t stretch) {
        const std::size_t first = stretch * kStretch, last = std::min(depth, first + kStretch);
        for (std::size_t p = 0; p < z.size(); ++p) {
            const std::size_t row = p - p % width, twin = width - 1 - p % width;
            const BetweenCells& place = mirrored[twin];  // where the twin's mirror image lies: near p
            const double low_share = place.low_weight / whole, high_share = place.high_weight / whole;
            const float *const here = votes.at(p), *const low_votes = votes.at(row + place.low),
                               *const high_votes = votes.at(row + place.high);
            double* const to = own.data() + bin_of[p] * depth;
            double* const twin_to = mirror.data() + bin_of[row + twin] * depth;
            for (std::size_t b = first; b < last; ++b) {
                to[b] += static_cast<double>(here[b]);
                twin_to[b] += low_share * static_cast<double>(low_votes[b]) +
                              high_share * static_cast<double>(high_votes[b]);
            }
        }
    });
    for (std::size_t i = 0; i < own.size(); ++i) mirror[i] += own[i];
}

Rings::Rings(const RingSums& sums, double tau, bool mirror)
    : low_(sums.low), step_(sums.step), table_({1, RingSums::kBins}, sums.depth) {
    constexpr std::size_t kBins = RingSums::kBins;
    const std::vector<double>& votes = mirror ? sums.mirror : sums.own;
    const std::size_t bins = sums.depth;
    for (std::size_t centre = 0; centre < kBins; ++centre) {
        const auto exponent = [&](std::size_t other) {
            const double gap = (static_cast<double>(centre) - static_cast<double>(other)) * step_ / tau;
            return -0.5 * gap * gap;
        };
        // Relative to the nearest bin with votes, so that the sum of weights is never 0.
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < kBins; ++k)
            if (votes[(k + 1) * bins - 1] > 0) most = std::max(most, exponent(k));
        std::vector<double> mean(bins);
        for (std::size_t k = 0; k < kBins; ++k) {
            const double weight = votes[(k + 1) * bins - 1] > 0 ? std::exp(exponent(k) - most) : 0.0;
            if (!(weight > 1e-12)) continue;
            for (std::size_t b = 0; b < bins; ++b) mean[b] += weight * votes[k * bins + b];
        }
        for (std::size_t b = 0; b < bins; ++b)
            table_.at(centre)[b] = static_cast<float>(mean[b] / mean[bins - 1]);
    }
}

void Rings::at(double z, float* out) const {
    const double place = step_ > 0 ? std::clamp((z - low_) / step_, 0.0, RingSums::kBins - 1.0) : 0.0;
    const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), RingSums::kBins - 2);
    const auto share = static_cast<float>(place - static_cast<double>(below));
    const float* const rows[2] = {table_.at(below), table_.at(below + 1)};
    const float weights[2] = {1 - share, share};
    weighted_sum(rows, weights, 2, table_.bins, out);
}

namespace {
// A cell with n scores per pixel has the vote n / (n + 2): almost equal votes, none for cells without data.
constexpr float kCap = 2;
constexpr double kTaus[] = {0.15, 0.4};
// Bandwidths over which prevalence is smoothed, in heights of the grid.
constexpr double kPrevalenceScales[] = {1.0 / 64, 1.0 / 20};
// Bandwidth over which scores are counted to decide whether a place has data, in heights of the grid.
constexpr double kSupportScale = 1.0 / 40;

/// A geometric sequence from 1/120 to at most 1/4.5 of the height, without bandwidths below half a cell; half
/// a cell if none is left.
std::vector<double> standard_bandwidths(const Grid& grid) {
    const double height = grid.height;
    std::vector<double> bandwidths;
    double bandwidth = height / 120;
    while (bandwidth <= height / 4.5) {
        if (bandwidth >= 0.5) bandwidths.push_back(bandwidth);
        bandwidth *= 1.5;
    }
    if (bandwidths.empty()) bandwidths.push_back(0.5);
    return bandwidths;
}

/// Scales so that the last value is 1. False where there are no votes.
bool normalise(float* values, std::size_t bins) {
    const float whole = values[bins - 1];
    if (!(whole > 0)) return false;
    const float scale = 1 / whole;
    for (std::size_t b = 0; b < bins; ++b) values[b] = std::min(1.0f, values[b] * scale);
    values[bins - 1] = 1;
    return true;
}
}  // namespace

std::vector<Candidate> make_candidates(const Grid& grid, const CandidateOptions& options) {
    std::vector<Candidate> all{{.kind = Candidate::Kind::image}};
    for (const double h : options.bandwidths.empty() ? standard_bandwidths(grid) : options.bandwidths)
        for (int mirror = 0; mirror <= (options.mirror ? 1 : 0); ++mirror)
            all.push_back({.kind = Candidate::Kind::space, .bandwidth = h, .mirror = mirror != 0});
    for (const double scale : kPrevalenceScales)
        for (const double tau : kTaus)
            for (int mirror = 0; mirror <= (options.mirror ? 1 : 0) && options.rings; ++mirror)
                all.push_back({.kind = Candidate::Kind::rings,
                               .bandwidth = std::max(0.5, scale * grid.height),
                               .mirror = mirror != 0,
                               .tau = tau});
    return all;
}

std::size_t pilot_of(const std::vector<Candidate>& candidates, const Grid& grid) {
    const double wanted = std::log(std::max(0.5, grid.height / 40.0));
    std::size_t best = 0;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (candidates[k].kind != Candidate::Kind::space || candidates[k].mirror) continue;
        if (best == 0 || std::abs(std::log(candidates[k].bandwidth) - wanted) <
                             std::abs(std::log(candidates[best].bandwidth) - wanted))
            best = k;
    }
    return best;
}

bool CandidateFields::possible(const FoldHistograms& histograms, std::size_t fold) {
    for (std::size_t p = 0; p < histograms.pixels(); ++p)
        for (std::size_t f = 0; f < histograms.folds(); ++f) {
            if (f == fold) continue;
            for (const std::uint32_t n : histograms.at(p, f))
                if (n > 0) return true;
        }
    return false;
}

CandidateFields::CandidateFields(const Cells& cells, const FoldHistograms& histograms, std::size_t fold,
                                 const std::vector<Candidate>& candidates)
    : grid_(cells.grid()),
      mirrored_(cells.mirrored_columns()),
      bins_(histograms.bins()),
      candidates_(candidates),
      image_(bins_) {
    Plane votes(grid_, bins_);
    std::vector<float> counts(grid_.pixels());
    std::vector<std::uint64_t> rows(grid_.height * bins_);
    parallel_for(grid_.height, [&](std::size_t y) {
        std::vector<std::uint32_t> own(bins_);
        std::uint64_t* const row = rows.data() + y * bins_;
        for (std::size_t p = y * grid_.width; p < (y + 1) * grid_.width; ++p) {
            const auto area = static_cast<float>(cells.area(p));
            counts[p] = static_cast<float>(histograms.without(p, fold, own)) / area;
            const float vote = 1 / (area * (counts[p] + kCap));
            std::uint32_t sum = 0;
            for (std::size_t b = 0; b < bins_; ++b) {
                sum += own[b];
                row[b] += sum;
                votes.at(p)[b] = static_cast<float>(sum) * vote;
            }
        }
    });
    for (std::size_t b = 0; b < bins_; ++b) {
        std::uint64_t sum = 0, whole = 0;
        for (std::size_t y = 0; y < grid_.height; ++y)
            sum += rows[y * bins_ + b], whole += rows[(y + 1) * bins_ - 1];
        image_[b] = static_cast<float>(static_cast<double>(sum) / static_cast<double>(whole));
    }
    around_ = smoothed_counts(cells, counts, std::max(0.5, kSupportScale * grid_.height));
    Pyramid pyramid(std::move(votes));
    std::shared_ptr<const std::vector<double>> z;
    std::optional<RingSums> sums;
    double z_scale = 0;
    for (const Candidate& one : candidates_) {
        if (one.kind == Candidate::Kind::space &&
            (smooths_.empty() || smooths_.back().first != one.bandwidth))
            smooths_.emplace_back(one.bandwidth, Smooth(pyramid, one.bandwidth, cells.added_variance()));
        if (one.kind == Candidate::Kind::rings) {
            if (!sums || z_scale != one.bandwidth) {
                z = std::make_shared<const std::vector<double>>(prevalence(cells, counts, one.bandwidth));
                sums.emplace(cells, pyramid.base(), *z);
                z_scale = one.bandwidth;
            }
            rings_.push_back({z, Rings(*sums, one.tau, one.mirror)});
        }
        place_.push_back(one.kind == Candidate::Kind::rings ? rings_.size() - 1 : smooths_.size() - 1);
    }
}

float CandidateFields::support(std::size_t cell, double unit) const {
    const double n = around_[cell];
    return static_cast<float>(n / (n + static_cast<double>(kCap) * unit));
}

bool CandidateFields::kernel_at(std::size_t cell, const Smooth& smooth, bool mirror, float* out) const {
    const auto row = static_cast<std::uint32_t>(cell / grid_.width),
               column = static_cast<std::uint32_t>(cell % grid_.width);
    smooth.at(row, column, out);
    if (mirror) {
        std::vector<float>& other = thread_buffer<float, CandidateFields>();
        other.resize(bins_);
        const BetweenCells& place = mirrored_[column];
        const auto whole = static_cast<float>(place.low_weight + place.high_weight);
        const auto add = [&](std::uint32_t from, std::uint32_t weight) {
            if (weight == 0) return;
            smooth.at(row, from, other.data());
            const float share = static_cast<float>(weight) / whole;
            for (std::size_t b = 0; b < bins_; ++b) out[b] += share * other[b];
        };
        add(place.low, place.low_weight);
        add(place.high, place.high_weight);
    }
    return normalise(out, bins_);
}

void CandidateFields::at(std::size_t cell, std::size_t candidate, float* out) const {
    const Candidate& one = candidates_[candidate];
    if (one.kind == Candidate::Kind::rings) {
        const Ring& ring = rings_[place_[candidate]];
        ring.rings.at((*ring.z)[cell], out);
        normalise(out, bins_);
        return;
    }
    if (one.kind == Candidate::Kind::space)
        for (std::size_t level = place_[candidate]; level < smooths_.size(); ++level)
            if (kernel_at(cell, smooths_[level].second, one.mirror, out)) return;
    std::copy(image_.begin(), image_.end(), out);
}

}  // namespace kandinsky::partition::field
