#include "partition/field/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"

namespace kandinsky::partition::field {

namespace {
// A pixel's vote is n / (n + 2): almost equal votes, none for pixels without data.
constexpr float kCap = 2;
constexpr double kTaus[] = {0.15, 0.4};
// What prevalence is smoothed over, in heights of the grid: little noise in many scores, much in few.
constexpr double kPrevalenceScales[] = {1.0 / 64, 1.0 / 20};
// What scores are counted over to see whether a place has data, in heights of the grid.
constexpr double kSupportScale = 1.0 / 40;

/// Geometric from 1/120 to about 1/5 of the height; below half a pixel nothing is shared.
std::vector<double> standard_bandwidths(const Grid& grid) {
    const double height = grid.height;
    std::vector<double> bandwidths;
    for (double h = height / 120; h <= height / 4.5; h *= 1.5)
        if (h >= 0.5) bandwidths.push_back(h);
    if (bandwidths.empty()) bandwidths.push_back(0.5);
    return bandwidths;
}

/// n / (n + 2), where n is the class's scores at a pixel, smoothed
/// over its surroundings.
std::vector<float> support_of(const Grid& grid, std::span<const float> counts) {
    const std::vector<double> n = smoothed_counts(grid, counts, std::max(0.5, kSupportScale * grid.height));
    std::vector<float> support(n.size());
    for (std::size_t p = 0; p < n.size(); ++p)
        support[p] = static_cast<float>(n[p] / (n[p] + static_cast<double>(kCap)));
    return support;
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
    : grid_(cells.grid()), bins_(histograms.bins()), candidates_(candidates), image_(bins_) {
    const auto area = static_cast<float>(cells.side() * cells.side());
    Plane votes(grid_, bins_);
    std::vector<float> counts(grid_.pixels());
    std::vector<std::uint64_t> rows(grid_.height * bins_);
    parallel_for(grid_.height, [&](std::size_t y) {
        std::vector<std::uint32_t> own(bins_);
        std::uint64_t* const row = rows.data() + y * bins_;
        for (std::size_t p = y * grid_.width; p < (y + 1) * grid_.width; ++p) {
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
    support_ = support_of(grid_, counts);
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
                z = std::make_shared<const std::vector<double>>(prevalence(grid_, counts, one.bandwidth));
                sums.emplace(pyramid.base(), *z);
                z_scale = one.bandwidth;
            }
            rings_.push_back({z, Rings(*sums, one.tau, one.mirror)});
        }
        place_.push_back(one.kind == Candidate::Kind::rings ? rings_.size() - 1 : smooths_.size() - 1);
    }
}

bool CandidateFields::kernel_at(std::size_t cell, const Smooth& smooth, bool mirror, float* out) const {
    const auto row = static_cast<std::uint32_t>(cell / grid_.width),
               column = static_cast<std::uint32_t>(cell % grid_.width);
    smooth.at(row, column, out);
    if (mirror) {
        std::vector<float>& other = thread_buffer<float, CandidateFields>();
        other.resize(bins_);
        smooth.at(row, grid_.width - 1 - column, other.data());
        for (std::size_t b = 0; b < bins_; ++b) out[b] += other[b];
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
