#include "partition/field/cross_validation.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/parallel.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

namespace {
constexpr std::size_t kBatch = 16;  ///< pixels whose errors are multiplied at once

/// On a small grid every cell is judged; on a large grid every second row and column of cells.
std::size_t judged_step(const Grid& grid) {
    constexpr std::size_t kLarge = 3000;
    return grid.pixels() < kLarge ? 1 : 2;
}

/// All candidates' distributions in some cells of one row, computed when first requested.
class CandidateRow {
  public:
    CandidateRow(const CandidateFields& fields, std::size_t candidates, const Grid& grid, std::size_t bins,
                 std::size_t row)
        : fields_(fields),
          candidates_(candidates),
          bins_(bins),
          first_(row * grid.width),
          values_(grid.width) {}
    /// [candidate][bin]
    [[nodiscard]] const float* at(std::size_t column) {
        std::vector<float>& own = values_[column];
        if (own.empty()) {
            own.resize(candidates_ * bins_);
            for (std::size_t k = 0; k < candidates_; ++k)
                fields_.at(first_ + column, k, own.data() + k * bins_);
        }
        return own.data();
    }

  private:
    const CandidateFields& fields_;
    std::size_t candidates_, bins_, first_;
    std::vector<std::vector<float>> values_;
};

/// The errors of all candidates at a batch of pixels, without and with weights.
class Errors {
  public:
    Errors(std::size_t candidates, std::size_t bins)
        : candidates_(candidates),
          rows_((candidates + 2) / 3 * 3),
          bins_(bins),
          stride_((bins + 7) / 8 * 8),
          plain_(rows_ * length()),
          weighted_(rows_ * length()),
          truth_(bins),
          weight_(bins),
          here_(candidates * bins) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }

    void clear() {
        std::fill(plain_.begin(), plain_.end(), 0.0f);
        std::fill(weighted_.begin(), weighted_.end(), 0.0f);
    }

    /// Stores the errors at a pixel in a slot of the batch. `cells`, `weights`: the distributions in the
    /// cells around the pixel and their weights; `judge`: the pixel's own scores by bin.
    void put(std::size_t slot, std::span<const float* const> cells, const float* weights,
             std::span<const std::uint32_t> judge, std::size_t pilot) {
        weighted_sum(cells.data(), weights, cells.size(), here_.size(), here_.data());
        const float* const by = here_.data() + pilot * bins_;
        const double whole = static_cast<double>(total_of(judge));
        std::uint64_t sum = 0;
        for (std::size_t b = 0; b < bins_; ++b) {
            sum += judge[b];
            truth_[b] = static_cast<float>(static_cast<double>(sum) / whole);
            weight_[b] = by[b] - (b > 0 ? by[b - 1] : 0.0f);
        }
        for (std::size_t k = 0; k < candidates_; ++k) {
            const float* const own = here_.data() + k * bins_;
            float* const error = plain_.data() + k * length() + slot * stride_;
            float* const scaled = weighted_.data() + k * length() + slot * stride_;
            for (std::size_t b = 0; b < bins_; ++b) {
                error[b] = own[b] - truth_[b];
                scaled[b] = error[b] * weight_[b];
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
    std::vector<float> truth_, weight_, here_;
};

/// Sets `sums` to the sums of the products over the middle pixels of one row of cells that have scores;
/// returns the number of these pixels.
std::size_t add_row(const Cells& cells, const FoldHistograms& histograms, std::size_t fold,
                    const CandidateFields& fields, std::size_t candidates, std::size_t pilot, std::size_t row,
                    std::vector<double>& sums) {
    const Grid grid = cells.grid();
    const std::size_t step = judged_step(grid);
    std::vector<std::size_t> judged;
    for (std::size_t x = step / 2; x < grid.width; x += step)
        if (total_of(histograms.judge(row * grid.width + x, fold)) > 0) judged.push_back(x);
    Errors errors(candidates, histograms.bins());
    sums.assign(errors.rows() * errors.rows(), 0.0);
    if (judged.empty()) return 0;
    const BetweenCells y = between_cells(cells.middle_row(row), cells.side(), grid.height);
    CandidateRow upper(fields, candidates, grid, histograms.bins(), y.low);
    CandidateRow below(fields, candidates, grid, histograms.bins(), y.high);
    const auto unit = static_cast<float>(4 * cells.side() * cells.side());
    for (std::size_t first = 0; first < judged.size(); first += kBatch) {
        const std::size_t end = std::min(judged.size(), first + kBatch);
        if (first + kBatch > end) errors.clear();
        for (std::size_t i = first; i < end; ++i) {
            const BetweenCells x = between_cells(cells.middle_column(judged[i]), cells.side(), grid.width);
            std::vector<const float*> around;
            std::vector<float> weights;
            const auto add = [&](CandidateRow& from, std::uint32_t column, std::uint32_t weight) {
                if (weight == 0) return;
                around.push_back(from.at(column));
                weights.push_back(static_cast<float>(weight) / unit);
            };
            add(upper, x.low, y.low_weight * x.low_weight);
            add(upper, x.high, y.low_weight * x.high_weight);
            add(below, x.low, y.high_weight * x.low_weight);
            add(below, x.high, y.high_weight * x.high_weight);
            errors.put(i - first, around, weights.data(),
                       histograms.judge(row * grid.width + judged[i], fold), pilot);
        }
        errors.multiply(sums.data());
    }
    return judged.size();
}
}  // namespace

FoldFields fold_fields(const Cells& cells, const FoldHistograms& histograms,
                       const std::vector<Candidate>& candidates) {
    FoldFields fields(histograms.folds());
    for (std::size_t fold = 0; fold < fields.size(); ++fold)
        if (CandidateFields::possible(histograms, fold))
            fields[fold].emplace(cells, histograms, fold, candidates);
    return fields;
}

ErrorProducts cross_validate(const Cells& cells, const FoldHistograms& histograms,
                             const std::vector<Candidate>& candidates, const FoldFields& fields,
                             Progress& progress) {
    const Grid grid = cells.grid();
    const std::size_t n = candidates.size(), rows = (n + 2) / 3 * 3, pilot = pilot_of(candidates, grid);
    ErrorProducts products{.candidates = n, .values = std::vector<double>(n * n), .folds = 0};
    products.by_fold.resize(histograms.folds());
    for (std::size_t fold = 0; fold < histograms.folds(); ++fold) {
        if (!fields[fold]) continue;
        const std::size_t step = judged_step(grid), lines = (grid.height + step - 1 - step / 2) / step;
        std::vector<std::vector<double>> parts(lines);
        std::vector<std::size_t> judged(lines);
        parallel_for(lines, progress, "field: cross-validation", [&](std::size_t i) {
            judged[i] =
                add_row(cells, histograms, fold, *fields[fold], n, pilot, i * step + step / 2, parts[i]);
        });
        const std::size_t pixels = std::accumulate(judged.begin(), judged.end(), std::size_t{0});
        if (pixels == 0) continue;
        std::vector<double>& own = products.by_fold[fold];
        own.resize(n * n);
        for (const std::vector<double>& part : parts)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t k = j; k < n; ++k)
                    own[j * n + k] += part[j * rows + k] / static_cast<double>(pixels);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t k = 0; k < j; ++k) own[j * n + k] = own[k * n + j];
        for (std::size_t i = 0; i < own.size(); ++i) products.values[i] += own[i];
        ++products.folds;
    }
    for (double& value : products.values)
        value /= static_cast<double>(std::max<std::size_t>(1, products.folds));
    return products;
}

}  // namespace kandinsky::partition::field
