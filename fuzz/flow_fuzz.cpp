// Runs a small random problem through all steps (calibrate, save, load, predict, evaluate) and checks
// properties that hold for any problem.
#include <cmath>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/threads.hpp>
#include <map>

#include "partition/method.hpp"
#include "problem.hpp"
#include "score/scoring.hpp"

namespace {

using namespace kandinsky;
using fuzz::check;

constexpr double kAlphas[] = {0.05, 0.1, 0.25, 0.5, 0.8};
// Sums of shares such as 1/3 + 1/3 + 1/3 fall short of the whole by roundings.
constexpr double kRounding = 1e-9;

/// The number of covered scores and of all scores, by group.
struct Tally {
    std::map<std::size_t, std::pair<double, double>> groups;

    [[nodiscard]] double coverage(Pooling pooling) const {
        double covered = 0, seen = 0;
        for (const auto& [group, one] : groups) {
            covered += pooling == Pooling::pixels ? one.first : one.first / one.second;
            seen += pooling == Pooling::pixels ? one.second : 1;
        }
        return covered / seen;
    }
};

/// Hard methods cover the calibration images with at least 1 - alpha in every region: the k-th of n scores
/// with k = ceil((n + 1)(1 - alpha)) has at least n (1 - alpha) scores at or below it, and the same holds for
/// groups of equal weight. Computed from the definition, not with evaluate().
void check_own_coverage(const fuzz::Problem& problem, const Dataset& data, const Calibrator& calibrator,
                        double alpha) {
    const std::size_t pixels = data.grid().pixels(), classes = data.classes();
    const std::vector<float> thresholds = score_thresholds(calibrator, alpha);
    std::vector<float> probs(classes * pixels), scores(classes * pixels);
    std::map<std::pair<std::size_t, std::size_t>, Tally> regions;
    for (std::size_t n = 0; n < data.images(); ++n) {
        data.read_probs(n, {0, pixels}, probs);
        score(calibrator.options.score, classes, pixels, probs.data(), scores.data(),
              {image_key(classes, pixels, probs.data()), 0});
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t p = 0; p < pixels; ++p) {
                if (!problem.labelled(n, p) || !problem.has(n, c, p)) continue;
                const std::size_t s = calibrator.stratum_of(c);
                if (calibrator.levels[s * pixels + p] != CurveLevel::region) continue;
                auto& [covered, seen] =
                    regions[{s, calibrator.partitions[s].region[p]}].groups[problem.group(n)];
                seen += 1;
                if (scores[c * pixels + p] <= thresholds[c * pixels + p]) covered += 1;
            }
    }
    for (const auto& [region, tally] : regions)
        check(tally.coverage(calibrator.options.pooling) >= 1 - alpha - kRounding,
              "a region of the calibration images themselves is covered less than 1 - alpha");
}

bool is_hard(const Calibrator& calibrator, std::size_t stratum) {
    return method(calibrator.method_of(stratum)).fit != nullptr;
}

bool is_share(double value) {
    return value >= 0 && value <= 1;
}

void check_evaluation(const Dataset& data, const Calibrator& calibrator) {
    const EvaluationReport report = evaluate(data, {&calibrator}, {.alpha = 0.1, .bootstrap = 3, .seed = 1});
    const Evaluation& judged = report.calibrators.front();
    check(judged.sets.size >= 0 && judged.sets.size <= static_cast<double>(data.classes()),
          "a mean set size outside [0, classes]");
    check(is_share(judged.plain_sets.empty) && is_share(judged.coverage_at_alpha), "a share outside [0, 1]");
    for (const StratumEvaluation& stratum : judged.strata) {
        check(stratum.ce_map.size() == data.grid().pixels(), "a map of another size");
        std::size_t known = 0;
        for (const double error : stratum.ce_map) {
            if (std::isnan(error)) continue;
            ++known;
            check(is_share(error), "a coverage error outside [0, 1]");
        }
        check(known == stratum.pixels && known + stratum.pixels_without_data == data.grid().pixels(),
              "pixels with data are miscounted");
        if (stratum.samples == 0) continue;
        check(is_share(stratum.mean_ce) && is_share(stratum.q05) && is_share(stratum.q95) &&
                  is_share(stratum.floor) && is_share(stratum.weighted_ce) &&
                  is_share(stratum.coverage_at_alpha),
              "a figure of a class with samples is not a share");
        for (const double coverage : stratum.coverage) check(is_share(coverage), "a coverage outside [0, 1]");
    }
    for (const Reliability& one : report.probabilities.classes)
        check(is_share(one.ece) && is_share(one.smooth_ece), "a calibration error outside [0, 1]");
}

void run(const fuzz::Problem& problem) {
    const Dataset data = problem.dataset();
    const Calibrator calibrator = calibrate(data, problem.options);
    fuzz::check_calibrator(calibrator);
    check(fuzz::saved(calibrate(problem.dataset(true), problem.options)) == fuzz::saved(calibrator),
          "the calibrator depends on the order of the images");
    if (problem.judge) check_evaluation(data, calibrator);
    bool hard = !problem.options.released && problem.options.split == 0;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) hard = hard && is_hard(calibrator, s);
    if (!hard) return;
    for (const double alpha : kAlphas) check_own_coverage(problem, data, calibrator, alpha);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const ThreadLimit one(1);
    fuzz::Bytes bytes(data, size);
    const fuzz::Problem problem = fuzz::read_problem(bytes);
    fuzz::result_or_error([&] { run(problem); });
    return 0;
}
