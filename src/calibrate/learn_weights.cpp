#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <kandinsky/weights.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "calibrate/logistic_regression.hpp"
#include "core/base/fail.hpp"
#include "core/data/dataset_access.hpp"
#include "core/kernel/hash.hpp"
#include "core/team/team.hpp"
#include "score/image_features.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kWeightFolds = 5;
// Weights are clipped at this quantile of the new groups' weights. A smaller bound means less mass at
// infinity, and few groups lie above this bound. docs/shift.md has figures.
constexpr double kBoundShare = 0.9;
constexpr double kLeastGain = 1e-9;  // above rounding, so that equal samples have no shift
constexpr std::array kRidges{1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001};

/// The features of every class in each group of a data set: the means over its images, [group][feature].
std::vector<double> group_features(const Dataset& data, Progress& progress) {
    const std::size_t width = data.classes() * ImageFeatures::kBasic;
    std::vector<double> sums(data.groups() * width), images(data.groups());
    const std::vector<std::vector<ImageFeatures>> all = features_of(data, Condition::by_class, progress);
    for (std::size_t image = 0; image < data.images(); ++image) {
        const std::size_t group = data.group_of(image);
        ++images[group];
        for (std::size_t c = 0; c < data.classes(); ++c)
            for (std::size_t k = 0; k < ImageFeatures::kBasic; ++k)
                sums[group * width + c * ImageFeatures::kBasic + k] += all[image][c].values[k];
    }
    for (std::size_t group = 0; group < images.size(); ++group)
        for (std::size_t k = 0; k < width; ++k) sums[group * width + k] /= images[group];
    return sums;
}

/// The rows of all ranks in a pseudo-random order that depends on their content only. In ascending order the
/// folds would be so similar that cross-validation could not detect overfitting.
std::vector<double> arranged(const std::vector<double>& own, std::size_t width, Communicator& comm) {
    std::vector<double> all;
    for (const std::vector<std::byte>& part : comm.gather(std::as_bytes(std::span(own)))) {
        const std::size_t before = all.size();
        all.resize(before + part.size() / sizeof(double));
        if (!part.empty()) std::memcpy(all.data() + before, part.data(), part.size());
    }
    std::vector<std::size_t> order(all.size() / width);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto row = [&](std::size_t r) { return all.begin() + static_cast<std::ptrdiff_t>(r * width); };
    std::vector<std::uint64_t> hash;
    for (std::size_t r = 0; r < order.size(); ++r)
        hash.push_back(hash_bytes(all.data() + r * width, width * sizeof(double), width));
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (hash[a] != hash[b]) return hash[a] < hash[b];
        return std::lexicographical_compare(row(a), row(a + 1), row(b), row(b + 1));
    });
    std::vector<double> out;
    for (const std::size_t r : order) out.insert(out.end(), row(r), row(r + 1));
    return out;
}

/// Standardises features so that the two samples together, each with weight one half, have mean 0 and
/// variance 1. Features of other groups are first clipped to the range of the samples.
class Scale {
  public:
    explicit Scale(const TwoSamples& samples) : places_(samples.features) {
        for (std::size_t k = 0; k < samples.features; ++k) {
            Place& own = places_[k];
            own.low = own.high = samples.first[k];
            double squares = 0;
            for (const std::vector<double>* part : {&samples.first, &samples.second}) {
                const double weight =
                    0.5 * static_cast<double>(samples.features) / static_cast<double>(part->size());
                for (std::size_t i = k; i < part->size(); i += samples.features) {
                    const double value = (*part)[i];
                    own.mean += weight * value;
                    squares += weight * value * value;
                    own.low = std::min(own.low, value), own.high = std::max(own.high, value);
                }
            }
            const double variance = squares - own.mean * own.mean;
            own.scale =
                variance > 1e-8 ? 1 / std::sqrt(variance) : 0;  // a feature that hardly varies is ignored
        }
    }
    [[nodiscard]] std::vector<double> operator()(std::vector<double> rows) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Place& own = places_[i % places_.size()];
            rows[i] = (std::clamp(rows[i], own.low, own.high) - own.mean) * own.scale;
        }
        return rows;
    }

  private:
    struct Place {
        double low = 0, high = 0, mean = 0, scale = 0;
    };
    std::vector<Place> places_;
};

struct Judged {
    double loss = 0;   ///< cross-validated
    double error = 0;  ///< standard error of the difference between this loss and the loss without a shift
};

/// Rows are assigned to the folds in turn.
Judged cross_validated(const TwoSamples& samples, double ridge) {
    std::array<std::vector<double>, 2> losses;  // of the rows of each sample
    for (std::size_t fold = 0; fold < kWeightFolds; ++fold) {
        TwoSamples learn{.features = samples.features}, test = learn;
        const auto deal = [&](const std::vector<double>& rows, std::vector<double>& to_learn,
                              std::vector<double>& to_test) {
            for (std::size_t i = 0; i < rows.size(); ++i)
                (i / samples.features % kWeightFolds == fold ? to_test : to_learn).push_back(rows[i]);
        };
        deal(samples.first, learn.first, test.first);
        deal(samples.second, learn.second, test.second);
        const LogRatio ratio = logistic_regression(learn, ridge);
        const auto judge = [&](const std::vector<double>& rows, double sign, std::vector<double>& to) {
            for (std::size_t i = 0; i < rows.size(); i += samples.features)
                to.push_back(
                    std::log1p(std::exp(-sign * ratio.at(std::span(rows).subspan(i, samples.features)))));
        };
        judge(test.first, -1, losses[0]);
        judge(test.second, 1, losses[1]);
    }
    Judged out;
    for (const std::vector<double>& own : losses) {
        const auto n = static_cast<double>(own.size());
        const double mean = std::accumulate(own.begin(), own.end(), 0.0) / n;
        double squares = 0;
        for (const double one : own) squares += (one - mean) * (one - mean);
        out.loss += mean / 2;
        out.error += squares / (n - 1) / n / 4;
    }
    out.error = std::sqrt(out.error);
    return out;
}

void refuse_unless_alike(const Dataset& calibration, const Dataset& fresh) {
    const auto describe = [](const Dataset& data) {
        return fmt::format("{} classes of {} x {}", data.classes(), data.grid().height, data.grid().width);
    };
    const std::string &old_name = calibration.options().probs_name, &new_name = fresh.options().probs_name;
    if (calibration.classes() != fresh.classes() || calibration.grid() != fresh.grid())
        fail(ErrorKind::data, "{} has {} (height x width), but {} has {}", new_name, describe(fresh),
             old_name, describe(calibration));
    if (calibration.grouped() != fresh.grouped())
        fail(ErrorKind::usage,
             "the {} images have groups and the others have none, so their features cannot be compared; give "
             "groups of both or of neither (`groups`, `shift_groups`)",
             calibration.grouped() ? "calibration" : "new");
}
}  // namespace

GroupWeights learn_weights(const Dataset& calibration, const Dataset& fresh, double most,
                           Progress& progress) {
    if (!(most >= 1) || std::isinf(most))
        fail(ErrorKind::usage, "`max_weight` is {}, but must be a finite number of at least 1", most);
    refuse_unless_alike(calibration, fresh);
    const std::vector<double> own = group_features(calibration, progress);
    TwoSamples samples{.features = calibration.classes() * ImageFeatures::kBasic};
    samples.first = arranged(own, samples.features, team_of(calibration).comm);
    samples.second = arranged(group_features(fresh, progress), samples.features, team_of(fresh).comm);
    if (std::min(samples.first_rows(), samples.second_rows()) < 2 * kWeightFolds)
        fail(ErrorKind::data,
             "{} calibration and {} new {} are too few to learn weights from; at least {} of each are needed",
             samples.first_rows(), samples.second_rows(), calibration.grouped() ? "groups" : "images",
             2 * kWeightFolds);
    const Scale scale(samples);
    samples.first = scale(std::move(samples.first));
    samples.second = scale(std::move(samples.second));
    const double unchanged = std::log(2.0);
    double best = unchanged, ridge = 0;
    for (const double one : kRidges) {
        const Judged judged = cross_validated(samples, one);
        if (judged.loss < best && judged.loss + judged.error < unchanged - kLeastGain)
            best = judged.loss, ridge = one;
    }
    LogRatio ratio{.constant = 0, .slope = std::vector<double>(samples.features)};
    if (ridge > 0) ratio = logistic_regression(samples, ridge);

    const auto weight_at = [&](const std::vector<double>& rows, std::size_t r) {
        return std::exp(ratio.at(std::span(rows).subspan(r * samples.features, samples.features)));
    };
    double sum = 0, largest = 0;
    for (std::size_t r = 0; r < samples.first_rows(); ++r) {
        const double one = weight_at(samples.first, r);
        sum += one, largest = std::max(largest, one);
    }
    const double mean = sum / static_cast<double>(samples.first_rows());
    GroupWeights out;
    std::vector<double> fresh_weights;
    for (std::size_t r = 0; r < samples.second_rows(); ++r)
        fresh_weights.push_back(weight_at(samples.second, r));
    const auto high = fresh_weights.begin() +
                      static_cast<std::ptrdiff_t>(kBoundShare * static_cast<double>(samples.second_rows()));
    std::nth_element(fresh_weights.begin(), high, fresh_weights.end());
    out.bound = std::min({largest, most * mean, std::max(*high, mean)}) / mean;
    const std::vector<double> rows = scale(own);
    std::vector<double> of_group;
    for (std::size_t g = 0; g < calibration.groups(); ++g) {
        of_group.push_back(weight_at(rows, g) / mean);
        of_group.back() = std::min(of_group.back(), out.bound);
    }
    // All rows, so that it is not empty on a rank without images: empty would mean no weights.
    out.of_row.assign(stored_probs(calibration).shape().front(), 0);
    for (std::size_t image = 0; image < calibration.images(); ++image)
        out.of_row[row_of(calibration, image)] = of_group[calibration.group_of(image)];
    nlohmann::ordered_json slopes = nlohmann::ordered_json::object();
    for (std::size_t k = 0; k < samples.features; ++k)
        slopes[fmt::format("{} of class {}", ImageFeatures::kNames[k % ImageFeatures::kBasic],
                           k / ImageFeatures::kBasic)] = ratio.slope[k];
    out.learnt = nlohmann::ordered_json{
        {"new_groups", samples.second_rows()},
        {"ridge", ridge > 0 ? nlohmann::ordered_json(ridge) : nlohmann::ordered_json(nullptr)},
        {"loss", best},
        {"loss_of_no_shift", unchanged},
        {"largest", largest / mean},
        {"clipped_at", out.bound},
        {"slopes",
         slopes}}.dump();
    return out;
}

}  // namespace kandinsky
