#include "partition/field/cross_validation.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

namespace {
constexpr std::size_t kBatch = 16;  ///< pixels whose errors are multiplied at once
constexpr std::size_t kTask = 64;

/// The errors of all candidates at a batch of pixels, as they are and weighted.
class Errors {
  public:
    Errors(std::size_t candidates, std::size_t bins)
        : candidates_(candidates),
          rows_((candidates + 2) / 3 * 3),
          bins_(bins),
          stride_((bins + 7) / 8 * 8),
          plain_(rows_ * length()),
          weighted_(rows_ * length()) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }

    void clear() {
        std::fill(plain_.begin(), plain_.end(), 0.0f);
        std::fill(weighted_.begin(), weighted_.end(), 0.0f);
    }

    void put(std::size_t slot, std::size_t pixel, const CandidateFields& fields,
             std::span<const std::uint32_t> judge, std::size_t pilot) {
        float* const base = plain_.data() + slot * stride_;
        fields.at(pixel, length(), base);
        const float* const by = base + pilot * length();
        std::vector<float> truth(bins_), weight(bins_);
        const double whole = static_cast<double>(total_of(judge));
        std::uint64_t sum = 0;
        for (std::size_t b = 0; b < bins_; ++b) {
            sum += judge[b];
            truth[b] = static_cast<float>(static_cast<double>(sum) / whole);
            weight[b] = by[b] - (b > 0 ? by[b - 1] : 0.0f);
        }
        for (std::size_t k = 0; k < candidates_; ++k) {
            float* const error = base + k * length();
            float* const scaled = weighted_.data() + k * length() + slot * stride_;
            for (std::size_t b = 0; b < bins_; ++b) {
                error[b] -= truth[b];
                scaled[b] = error[b] * weight[b];
            }
        }
    }

    void multiply(double* sums) const {
        add_products(plain_.data(), weighted_.data(), rows_, length(), sums);
    }

  private:
    [[nodiscard]] std::size_t length() const { return kBatch * stride_; }

    std::size_t candidates_, rows_, bins_, stride_;
    std::vector<float> plain_, weighted_;  ///< [candidate][pixel of the batch][bin]
};
}  // namespace

ErrorProducts cross_validate(const Grid& grid, const FoldHistograms& histograms,
                             const std::vector<Candidate>& candidates, Progress& progress) {
    const std::size_t n = candidates.size(), pilot = pilot_of(candidates, grid);
    ErrorProducts products{.candidates = n, .values = std::vector<double>(n * n), .folds = 0};
    products.by_fold.resize(histograms.folds());
    const std::size_t step = lattice_step(histograms);
    for (std::size_t fold = 0; fold < histograms.folds(); ++fold) {
        const std::vector<std::size_t> pixels = judged_pixels(grid, histograms, fold, step);
        if (pixels.empty() || !CandidateFields::possible(histograms, fold)) continue;
        const CandidateFields fields(grid, histograms, fold, candidates);
        const std::size_t tasks = (pixels.size() + kTask - 1) / kTask;
        std::vector<std::vector<double>> parts(tasks);
        std::size_t rows = 0;
        parallel_for(tasks, progress, "field: cross-validation", [&](std::size_t task) {
            Errors errors(n, histograms.bins());
            parts[task].resize(errors.rows() * errors.rows());
            const std::size_t end = std::min(pixels.size(), (task + 1) * kTask);
            for (std::size_t first = task * kTask; first < end; first += kBatch) {
                if (first + kBatch > end) errors.clear();
                for (std::size_t i = first; i < std::min(end, first + kBatch); ++i)
                    errors.put(i - first, pixels[i], fields, histograms.at(pixels[i], fold), pilot);
                errors.multiply(parts[task].data());
            }
        });
        rows = (n + 2) / 3 * 3;
        std::vector<double>& own = products.by_fold[fold];
        own.resize(n * n);
        for (const std::vector<double>& part : parts)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t k = j; k < n; ++k) {
                    const double value = part[j * rows + k] / static_cast<double>(pixels.size());
                    products.values[j * n + k] += value;
                    own[j * n + k] += value;
                }
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < j; ++k) own[j * n + k] = own[k * n + j];
        ++products.folds;
    }
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = j; k < n; ++k) {
            if (products.folds > 0) products.values[j * n + k] /= static_cast<double>(products.folds);
            products.values[k * n + j] = products.values[j * n + k];
        }
    return products;
}

}  // namespace kandinsky::partition::field
