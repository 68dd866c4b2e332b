#include "evaluate/resampled_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernel/count_kernels.hpp"

namespace kandinsky {

namespace {
constexpr double kOne = 4294967296.0;  // 2^32 units are an error of 1

void add_row(std::uint16_t* to, const std::uint16_t* from, std::size_t n) {
    add_words(from, n, to);
}
void add_row(std::uint32_t* __restrict to, const std::uint16_t* __restrict from, std::size_t n) {
    for (std::size_t b = 0; b < n; ++b) to[b] += from[b];
}
void add_level(const std::uint16_t* counts, const double* share, double target, std::size_t n,
               double* covered, double* error) {
    add_errors(counts, share, target, n, covered, error);
}
void add_level(const std::uint32_t* counts, const double* share, double target, std::size_t n,
               double* covered, double* error) {
    for (std::size_t b = 0; b < n; ++b) {
        covered[b] += counts[b];
        error[b] += std::abs(covered[b] * share[b] - target);
    }
}
}  // namespace

ResampledErrors::ResampledErrors(const Calibrator& calibrator, const LevelPlan& plan, const Dataset& data,
                                 const Resamples& resamples)
    : calibrator_(calibrator),
      plan_(plan),
      data_(data),
      resamples_(resamples),
      sums_(calibrator.strata() * resamples.stride()),
      pixels_(sums_.size()) {}

std::size_t ResampledErrors::tile_size(const Dataset& data, std::size_t images, std::size_t bytes) {
    return std::max<std::size_t>(16, bytes / (data.classes() * std::max<std::size_t>(1, images)));
}

ResampledErrors::Tile::Tile(ResampledErrors& all, std::size_t pixels)
    : all_(all), pixels_(pixels), first_(all.data_.classes() * pixels * all.data_.images(), kNone) {}

void ResampledErrors::Tile::note(std::size_t image, std::size_t c, const std::uint8_t* ranks,
                                 const std::uint8_t* member) {
    const std::size_t images = all_.data_.images();
    std::uint8_t* const to = first_.data() + c * pixels_ * images + image;
    for (std::size_t i = 0; i < pixels_; ++i)
        if (member[i] != 0) to[i * images] = ranks[i];
}

template <class Count>
bool ResampledErrors::Tile::count_pixel(std::size_t stratum, std::size_t pixel, Count* table) const {
    const std::size_t images = all_.data_.images(), stride = all_.resamples_.stride();
    bool any = false;
    for (std::size_t c = 0; c < all_.data_.classes(); ++c) {
        if (all_.calibrator_.stratum_of(c) != stratum) continue;
        const std::uint8_t* const first = first_.data() + (c * pixels_ + pixel) * images;
        for (std::size_t image = 0; image < images; ++image) {
            if (first[image] == kNone) continue;
            add_row(table + first[image] * stride, all_.resamples_.times(all_.data_.group_of(image)), stride);
            any = true;
        }
    }
    return any;
}

void ResampledErrors::Tile::tabulate() {
    const std::size_t each = (all_.plan_.alphas.size() + 1) * all_.resamples_.stride();
    tables_.assign(all_.calibrator_.strata() * pixels_ * each, 0);
    for (std::size_t s = 0; s < all_.calibrator_.strata(); ++s)
        for (std::size_t i = 0; i < pixels_; ++i)
            count_pixel(s, i, tables_.data() + (s * pixels_ + i) * each);
}

void ResampledErrors::Tile::list(VisitSums& sums) {
    sums.add(std::span(tables_));
    sums.keep(bytes_of(first_));
}

template <class Count>
void ResampledErrors::Tile::count_all() {
    const std::size_t levels = all_.plan_.alphas.size();
    const std::size_t strata = all_.calibrator_.strata(), stride = all_.resamples_.stride();
    std::vector<Count> table((levels + 1) * stride);
    std::vector<double> share(stride), covered(stride), error(stride);
    std::vector<std::uint64_t> sums(strata * stride), counted(strata * stride);
    for (std::size_t s = 0; s < strata; ++s)
        for (std::size_t i = 0; i < pixels_; ++i) {
            if (tables_.empty()) {
                std::fill(table.begin(), table.end(), Count{0});
                if (!count_pixel(s, i, table.data())) continue;
            } else {
                const std::uint32_t* const from = tables_.data() + (s * pixels_ + i) * table.size();
                std::transform(from, from + table.size(), table.begin(),
                               [](std::uint32_t n) { return static_cast<Count>(n); });
            }
            std::fill(share.begin(), share.end(), 0.0);
            std::fill(covered.begin(), covered.end(), 0.0);
            std::fill(error.begin(), error.end(), 0.0);
            for (std::size_t l = 0; l <= levels; ++l)
                for (std::size_t b = 0; b < stride; ++b) share[b] += table[l * stride + b];
            for (std::size_t b = 0; b < stride; ++b) {
                counted[s * stride + b] += share[b] > 0;
                share[b] = share[b] > 0 ? 1 / share[b] : 0.0;
            }
            for (std::size_t l = 0; l < levels; ++l) {
                add_level(table.data() + l * stride, share.data(), all_.plan_.targets[l], stride,
                          covered.data(), error.data());
            }
            for (std::size_t b = 0; b < stride; ++b)
                if (share[b] > 0)
                    sums[s * stride + b] +=
                        static_cast<std::uint64_t>(error[b] / static_cast<double>(levels) * kOne + 0.5);
        }
    const std::lock_guard lock(all_.mutex_);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        all_.sums_[i] += sums[i];
        all_.pixels_[i] += counted[i];
    }
}

void ResampledErrors::Tile::finish() {
    // A class may be there once in every image; where classes are pooled and overlap, each counts.
    const std::uint64_t most = all_.resamples_.most_images() *
                               (all_.calibrator_.strata() == 1 ? all_.data_.classes() : std::size_t{1});
    if (tables_.empty() && most < std::numeric_limits<std::uint16_t>::max())
        count_all<std::uint16_t>();
    else
        count_all<std::uint32_t>();
}

std::vector<double> ResampledErrors::means(std::size_t stratum) const {
    std::vector<double> out(resamples_.count(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t b = 0; b < out.size(); ++b) {
        const std::size_t at = stratum * resamples_.stride() + b;
        if (pixels_[at] > 0)
            out[b] = static_cast<double>(sums_[at]) / kOne / static_cast<double>(pixels_[at]);
    }
    return out;
}

}  // namespace kandinsky
