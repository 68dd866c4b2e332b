#include "partition/image_shift.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/team/team.hpp"
#include "partition/quantile_regression.hpp"

namespace kandinsky::partition {

std::vector<std::int32_t> some_values(std::span<const std::int32_t> all, std::size_t images) {
    constexpr std::size_t kMost = 512, kLeast = 32, kTogether = std::size_t{1} << 20;
    const std::size_t count =
        std::min(all.size(), std::clamp(kTogether / std::max<std::size_t>(1, images), kLeast, kMost));
    std::vector<std::int32_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = all[i * all.size() / count];
    return out;
}

void share(Communicator& comm, std::vector<ShiftSample>& samples) {
    if (comm.size() == 1) return;
    std::vector<std::uint64_t> words;
    for (const ShiftSample& one : samples) {
        words.insert(words.end(), {one.group, one.fold, one.scores, one.values.size(), one.others.size()});
        for (const double value : one.features.values) words.push_back(std::bit_cast<std::uint64_t>(value));
        for (const auto* list : {&one.values, &one.others})
            for (const std::int32_t value : *list) words.push_back(static_cast<std::uint32_t>(value));
    }
    const std::vector<std::uint64_t> all = gather_words(comm, words).values;
    samples.clear();
    for (auto at = all.begin(); at != all.end();) {
        ShiftSample& one = samples.emplace_back();
        one.group = *at++;
        one.fold = static_cast<std::uint32_t>(*at++);
        one.scores = *at++;
        one.values.resize(*at++);
        one.others.resize(*at++);
        for (double& value : one.features.values) value = std::bit_cast<double>(*at++);
        for (auto* list : {&one.values, &one.others})
            for (std::int32_t& value : *list) value = static_cast<std::int32_t>(*at++);
    }
}

namespace {
constexpr std::size_t kCount = ImageFeatures::kCount;
constexpr std::array kLevels{0.85, 0.9, 0.95};
constexpr std::array kRidges{1.0, 0.3, 0.1, 0.03, 0.01, 0.003};  // each fit starts from the one before
constexpr double kErrors = 1;  // number of standard errors by which adapting must reduce the loss
constexpr std::array kScales{1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125};
constexpr double kMostPrice = 1;  // largest price, relative to that of one level

using Prices = std::array<double, kLevels.size()>;

double mean_of(const Prices& prices) {
    return std::accumulate(prices.begin(), prices.end(), 0.0) / static_cast<double>(prices.size());
}

/// The mean over the levels of price / plain price: every level counts the same, however small its sets are.
double relative_price(const Prices& prices, const Prices& plain) {
    constexpr double kLeast = 1.0 / 4096;  // growth of smaller shares does not matter
    double sum = 0;
    for (std::size_t k = 0; k < prices.size(); ++k) sum += (prices[k] + kLeast) / (plain[k] + kLeast);
    return sum / static_cast<double>(prices.size());
}

/// Sorts the samples into an order that depends only on their content.
void arrange(std::vector<ShiftSample>& samples) {
    std::sort(samples.begin(), samples.end(), [](const ShiftSample& a, const ShiftSample& b) {
        return std::tie(a.group, a.scores, a.features.values, a.values, a.others) <
               std::tie(b.group, b.scores, b.features.values, b.values, b.others);
    });
}

/// Some samples as rows of a regression; features are standardised over these samples.
class Rows {
  public:
    Rows(std::span<const ShiftSample> samples, std::span<const ValueTable> tables,
         const std::vector<std::size_t>& chosen) {
        std::map<std::uint64_t, double> scores;
        for (const std::size_t i : chosen) scores[samples[i].group] += static_cast<double>(samples[i].scores);
        const auto groups = static_cast<double>(scores.size());
        for (const std::size_t i : chosen)
            rows_.push_back(
                {.values = &tables[i],
                 .weight = static_cast<double>(samples[i].scores) / (scores[samples[i].group] * groups)});
        for (std::size_t k = 0; k < kCount; ++k) {
            low_[k] = std::numeric_limits<double>::infinity(), high_[k] = -low_[k];
            for (std::size_t r = 0; r < chosen.size(); ++r) {
                const double value = samples[chosen[r]].features.values[k];
                mean_[k] += rows_[r].weight * value;
                low_[k] = std::min(low_[k], value), high_[k] = std::max(high_[k], value);
            }
            double variance = 0;
            for (std::size_t r = 0; r < chosen.size(); ++r) {
                const double off = samples[chosen[r]].features.values[k] - mean_[k];
                variance += rows_[r].weight * off * off;
            }
            // A feature that hardly varies is not used.
            scale_[k] = variance > 1e-8 ? 1 / std::sqrt(variance) : 0.0;
        }
        for (std::size_t r = 0; r < chosen.size(); ++r)
            rows_[r].features = standardised(samples[chosen[r]].features);
    }

    [[nodiscard]] std::span<const RegressionRow> rows() const { return rows_; }
    [[nodiscard]] FeatureRow standardised(const ImageFeatures& features) const {
        FeatureRow out{};
        for (std::size_t k = 0; k < kCount; ++k)
            out[k] = (std::clamp(features.values[k], low_[k], high_[k]) - mean_[k]) * scale_[k];
        return out;
    }
    /// The shift of a fit, for features that are not standardised. Its mean over the rows is 0.
    [[nodiscard]] Adaptation::Shift shift(const QuantileFit& fit) const {
        Adaptation::Shift out{.low = low_, .high = high_};
        for (std::size_t k = 0; k < kCount; ++k) {
            out.slope[k] = fit.slopes[k] * scale_[k];
            out.constant -= out.slope[k] * mean_[k];
        }
        return out;
    }

  private:
    std::vector<RegressionRow> rows_;
    FeatureRow mean_{}, scale_{}, low_{}, high_{};
};

std::vector<ValueTable> tables_of(std::span<const ShiftSample> samples) {
    std::vector<ValueTable> out;
    out.reserve(samples.size());
    for (const ShiftSample& one : samples)
        out.emplace_back(one.values.empty() ? std::vector<std::int32_t>{0} : one.values);  // 0 is not used
    return out;
}

template <class Wanted>
std::vector<std::size_t> those(std::span<const ShiftSample> samples, Wanted&& wanted) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (wanted(samples[i])) out.push_back(i);
    return out;
}

Adaptation::Shift fitted(std::span<const ShiftSample> samples, std::span<const ValueTable> tables,
                         const std::vector<std::size_t>& chosen, double ridge, double scale) {
    if (chosen.empty()) return {};
    const Rows rows(samples, tables, chosen);
    Adaptation::Shift out =
        rows.shift(quantile_regression(rows.rows(), kLevels, ridge, quantiles_alone(rows.rows(), kLevels)));
    for (double& slope : out.slope) slope *= scale;
    out.constant *= scale;
    return out;
}

/// Images with their shifts by fits that were made without their fold, for each ridge.
class Trial {
  public:
    Trial(std::span<const ShiftSample> samples, std::span<const ValueTable> tables) {
        std::map<std::uint64_t, double> scores;
        std::uint32_t folds = 0;
        for (const ShiftSample& one : samples) folds = std::max(folds, one.fold + 1);
        for (std::uint32_t fold = 0; fold < folds; ++fold) add(samples, tables, fold);
        for (const Image& one : images_)
            if (one.scores > 0) scores[one.group] += one.scores;
        groups_ = scores.size();
        for (Image& one : images_)
            if (one.scores > 0) one.weight = one.scores / (scores[one.group] * static_cast<double>(groups_));
    }

    [[nodiscard]] std::size_t groups() const { return groups_; }

    /// The loss and the price of the fits with one ridge, with slopes multiplied by a scale.
    struct Verdict {
        std::map<std::uint64_t, double> losses;  ///< [group] the mean pinball loss of its scores
        double loss = 0;                         ///< their mean
        Prices prices{};  ///< [level] share of pixels with another label whose set has the class
    };
    [[nodiscard]] Verdict judge(std::size_t ridge, double scale) const {
        Verdict out;
        for (std::size_t k = 0; k < kLevels.size(); ++k) {
            const double level = kLevels[k], limit = quantile(level, ridge, scale);
            double priced = 0;
            for (const Image& one : images_) {
                const double own = limit + scale * one.shift[ridge];
                if (one.scores > 0) {
                    const double loss = one.weight * (one.values->below(own) - level * own);
                    out.losses[one.group] += loss * static_cast<double>(groups_) / kLevels.size();
                    out.loss += loss / kLevels.size();
                }
                if (one.others) {
                    out.prices[k] += one.others->at(own).share;
                    ++priced;
                }
            }
            if (priced > 0) out.prices[k] /= priced;
        }
        return out;
    }

  private:
    struct Image {
        std::uint64_t group;
        double scores;
        const ValueTable* values;
        std::optional<ValueTable> others;
        std::array<double, kRidges.size()> shift;
        double weight = 0;
    };

    void add(std::span<const ShiftSample> samples, std::span<const ValueTable> tables, std::uint32_t fold) {
        const std::vector<std::size_t> own =
            those(samples, [&](const ShiftSample& one) { return one.fold == fold; });
        const std::vector<std::size_t> others =
            those(samples, [&](const ShiftSample& one) { return one.fold != fold && one.scores > 0; });
        if (others.empty()) return;
        const Rows learn(samples, tables, others);
        const std::size_t first = images_.size();
        for (const std::size_t i : own)
            images_.push_back({.group = samples[i].group,
                               .scores = static_cast<double>(samples[i].scores),
                               .values = &tables[i],
                               .others = samples[i].others.empty()
                                             ? std::nullopt
                                             : std::optional(ValueTable(samples[i].others)),
                               .shift = {}});
        QuantileFit fit = quantiles_alone(learn.rows(), kLevels);
        for (std::size_t ridge = 0; ridge < kRidges.size(); ++ridge) {
            fit = quantile_regression(learn.rows(), kLevels, kRidges[ridge], std::move(fit));
            for (std::size_t i = 0; i < own.size(); ++i) {
                const FeatureRow row = learn.standardised(samples[own[i]].features);
                for (std::size_t k = 0; k < kCount; ++k)
                    images_[first + i].shift[ridge] += fit.slopes[k] * row[k];
            }
        }
    }

    /// At a level, the quantile of the groups' values minus the shifts.
    [[nodiscard]] double quantile(double level, std::size_t ridge, double scale) const {
        constexpr int kHalvings = 40;
        double low = -16, high = 16;
        for (int i = 0; i < kHalvings; ++i) {
            const double middle = (low + high) / 2;
            double below = 0;
            for (const Image& one : images_)
                if (one.scores > 0)
                    below += one.weight * one.values->at(middle + scale * one.shift[ridge]).share;
            (below < level ? low : high) = middle;
        }
        return high;
    }

    std::vector<Image> images_;
    std::size_t groups_ = 0;
};
}  // namespace

LearntShift learn_shift(std::vector<ShiftSample> samples) {
    arrange(samples);
    const std::vector<ValueTable> tables = tables_of(samples);
    const Trial trial(samples, tables);
    LearntShift out;
    if (trial.groups() < 2) return out;
    const Trial::Verdict plain = trial.judge(0, 0);
    out.plain_loss = out.loss = plain.loss;
    out.plain_price = out.price = mean_of(plain.prices);
    out.scale = 0;
    Trial::Verdict best = plain;
    for (std::size_t ridge = 0; ridge < kRidges.size(); ++ridge)
        for (const double scale : kScales) {
            Trial::Verdict one = trial.judge(ridge, scale);
            if (relative_price(one.prices, plain.prices) > kMostPrice || !(one.loss < best.loss)) continue;
            best = std::move(one);
            out.ridge = kRidges[ridge];
            out.scale = scale;
        }
    out.loss = best.loss;
    out.price = mean_of(best.prices);
    if (out.scale == 0) return out;
    const auto groups = static_cast<double>(trial.groups());
    double variance = 0;  // of the gain
    for (const auto& [group, own] : best.losses) {
        const double gain = plain.losses.at(group) - own - (plain.loss - best.loss);
        variance += gain * gain / (groups - 1);
    }
    if (out.plain_loss - out.loss > kErrors * std::sqrt(variance / groups))
        out.shift =
            fitted(samples, tables, those(samples, [](const ShiftSample& one) { return one.scores > 0; }),
                   out.ridge, out.scale);
    return out;
}

Adaptation::Shift shift_without(std::vector<ShiftSample> samples, const LearntShift& known,
                                std::uint32_t fold) {
    arrange(samples);
    return fitted(samples, tables_of(samples),
                  those(samples, [&](const ShiftSample& one) { return one.fold != fold && one.scores > 0; }),
                  known.ridge, known.scale);
}

}  // namespace kandinsky::partition
