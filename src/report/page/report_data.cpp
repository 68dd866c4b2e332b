#include "report/page/report_data.hpp"
#include "partition/method.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/empty_rule.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/kcal/kcal.hpp"
#include "report/data/blob.hpp"
#include "report/data/example_images.hpp"
#include "report/data/outline_data.hpp"
#include "report/data/pixel_curves.hpp"
#include "report/table/predicted_text.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
ordered_json shares(const std::vector<std::uint64_t>& counts, std::uint64_t total) {
    ordered_json out = ordered_json::array();
    for (const std::uint64_t count : counts)
        out.push_back(number(static_cast<double>(count) / static_cast<double>(total)));
    return out;
}

ordered_json at_levels(const MethodTally& tally, double SetFigures::*figure) {
    ordered_json out = ordered_json::array();
    for (const SetCounts& sets : tally.sets) out.push_back(number(sets.figures().*figure));
    return out;
}

ordered_json counts_blob(const std::uint32_t* counts, const Grid& grid) {
    std::vector<std::uint16_t> values(grid.pixels());
    for (std::size_t p = 0; p < values.size(); ++p)
        values[p] = static_cast<std::uint16_t>(std::min<std::uint32_t>(counts[p], 65535));
    return blob(values, {grid.height, grid.width});
}

ordered_json map_blob(const std::vector<double>& map, double top, const Grid& grid) {
    std::vector<std::uint8_t> bytes(map.size());
    for (std::size_t p = 0; p < map.size(); ++p) bytes[p] = quantised(map[p], top);
    ordered_json out = blob(bytes, {grid.height, grid.width}, {grid.width});
    out["top"] = top;
    return out;
}

/// The largest coverage error of a stratum over all methods, so that its maps share a scale.
double largest_error(const EvaluationReport& evaluation, std::size_t stratum) {
    double top = 0;
    for (const Evaluation& one : evaluation.calibrators)
        if (stratum < one.strata.size())
            for (const double value : one.strata[stratum].ce_map)
                if (std::isfinite(value)) top = std::max(top, value);
    return top;
}

ordered_json region_map(const Calibrator& calibrator, std::size_t stratum) {
    if (many_curves(calibrator, stratum)) return nullptr;
    const Partition& partition = calibrator.partitions[stratum];
    const Grid grid = calibrator.grid;
    if (partition.regions <= 255) {
        const std::vector<std::uint8_t> bytes(partition.region.begin(), partition.region.end());
        return blob(bytes, {grid.height, grid.width}, {grid.width});
    }
    const std::vector<std::uint16_t> values(partition.region.begin(), partition.region.end());
    return blob(values, {grid.height, grid.width});
}

/// The CurveLevel of every pixel; null if all pixels use their region's curve. In the released code's rules a
/// pixel without a curve has 3, because its sets never have the class.
ordered_json level_map(const Calibrator& calibrator, std::size_t stratum) {
    const std::size_t pixels = calibrator.grid.pixels();
    std::vector<std::uint8_t> bytes(pixels);
    for (std::size_t p = 0; p < pixels; ++p) {
        const CurveLevel level = calibrator.levels[stratum * pixels + p];
        constexpr std::uint8_t kNever = 3;
        bytes[p] = calibrator.options.released && level == CurveLevel::none
                       ? kNever
                       : static_cast<std::uint8_t>(level);
    }
    if (std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t level) { return level == 0; }))
        return nullptr;
    return blob(bytes, {calibrator.grid.height, calibrator.grid.width}, {calibrator.grid.width});
}

/// Among the test images without the class at a pixel (pairs of image and class if classes are pooled), the
/// share whose set contains the class.
ordered_json false_map(const Calibrator& calibrator, const Tally& tally, std::size_t m, std::size_t s) {
    const std::size_t pixels = calibrator.grid.pixels(), classes = calibrator.classes / calibrator.strata();
    std::vector<double> shares(pixels);
    for (std::size_t p = 0; p < pixels; ++p)
        shares[p] =
            static_cast<double>(tally.methods[m].pixel_wrong[s * pixels + p]) /
            static_cast<double>(classes * tally.labelled[p] - tally.methods[m].pixel_tested[s * pixels + p]);
    return map_blob(shares, 1, calibrator.grid);
}

const CompareRow* row_of(const ReportInput& input, std::size_t m, std::size_t s) {
    if (input.comparison == nullptr || input.comparison->draws < 2) return nullptr;
    return &input.comparison->rows[s * input.calibrators.size() + m];
}

ordered_json stratum_json(const ReportInput& input, const Tally& tally, const PixelCurves& curves,
                          std::size_t m, std::size_t s) {
    const Calibrator& calibrator = *input.calibrators[m];
    const StratumEvaluation& from = input.evaluation->calibrators[m].strata[s];
    const CompareRow* const row = row_of(input, m, s);
    return {{"method", calibrator.method_of(s)},
            {"regions", calibrator.partitions[s].regions},
            {"mean_ce", number(row != nullptr ? row->mean_ce : from.mean_ce)},
            {"mean_ce_sd", row != nullptr ? number(row->mean_ce_sd) : ordered_json(nullptr)},
            {"q05", number(row != nullptr ? row->q05 : from.q05)},
            {"q95", number(row != nullptr ? row->q95 : from.q95)},
            {"floor", number(from.floor)},
            {"pixels", from.pixels},
            {"pixels_without_data", from.pixels_without_data},
            {"samples", from.samples},
            {"weighted_ce", number(row != nullptr ? row->weighted_ce : from.weighted_ce)},
            {"worst_block", number(row != nullptr ? row->worst_block : from.worst_block.coverage)},
            {"images_below", number(row != nullptr ? row->images_below : from.image_coverage.below)},
            {"image_spread", number(from.image_coverage.spread)},
            {"images_far_below", number(from.image_coverage.far_below)},
            {"hardest_tenth", number(from.image_coverage.hardest)},
            {"by_feature", features_json(from.image_coverage)},
            {"coverage_at_alpha", number(row != nullptr ? row->coverage_at_alpha : from.coverage_at_alpha)},
            {"false_share", number(row != nullptr ? row->false_share : from.false_share)},
            {"place_error", number(row != nullptr ? row->place_error : from.place_error)},
            {"coverage", numbers(from.coverage)},
            {"slider_false_share", shares(tally.methods[m].wrong[s], tally.methods[m].others[s])},
            {"slider_coverage", shares(tally.methods[m].covered[s], from.samples)},
            {"region_samples", from.region_samples},
            {"ce_map", map_blob(from.ce_map, largest_error(*input.evaluation, s), calibrator.grid)},
            {"false_map", false_map(calibrator, tally, m, s)},
            {"region_map", region_map(calibrator, s)},
            {"level_map", level_map(calibrator, s)},
            {"geometry", ordered_json::parse(calibrator.partitions[s].geometry)},
            {"curves", many_curves(calibrator, s) ? ordered_json(nullptr)
                                                  : blob(curve_table(calibrator, s, curves.range),
                                                         {calibrator.curves[s].size(), kSliderLevels})},
            {"pixel_curves", curves.thresholds[m][s]},
            {"pixel_coverage", curves.coverage[m][s]}};
}

ordered_json method_json(const ReportInput& input, const Tally& tally, const PixelCurves& curves,
                         std::size_t m) {
    const Calibrator& calibrator = *input.calibrators[m];
    const Evaluation& evaluation = input.evaluation->calibrators[m];
    const CompareRow* const row = row_of(input, m, 0);  // the sets are the same in the rows of all strata
    const SetFigures& sets = row != nullptr ? row->sets : evaluation.sets;
    ordered_json strata = ordered_json::array();
    for (std::size_t s = 0; s < calibrator.strata(); ++s)
        strata.push_back(stratum_json(input, tally, curves, m, s));
    ordered_json meta = meta_of(calibrator);
    meta.erase("strata");
    meta.erase("guarantee");
    std::vector<double> sizes(calibrator.grid.pixels());
    for (std::size_t p = 0; p < sizes.size(); ++p)
        sizes[p] = static_cast<double>(tally.methods[m].set_sums[p]) / static_cast<double>(tally.labelled[p]);
    return {{"name", input.names[m]},
            {"summary", method_summary(calibrator.options.method.name)},
            {"guarantee", fmt::format("{}{} Rule: {}.",
                                      calibrator.choices.empty() ? "" : choice_sentence(calibrator) + " ",
                                      guarantee(calibrator), promise_rule(calibrator))},
            {"meta", std::move(meta)},
            {"empty", std::string(name_of(empty_rule(input.empty, calibrator)))},
            {"set_size", number(sets.size)},
            {"false_classes", number(sets.false_classes)},
            {"empty_share", number(row != nullptr ? row->empty_share : evaluation.plain_sets.empty)},
            {"single_share", number(sets.single)},
            {"single_right", number(sets.single_right)},
            {"full_share", number(sets.full)},
            {"coverage_at_alpha", number(evaluation.coverage_at_alpha)},
            {"slider_set_size", at_levels(tally.methods[m], &SetFigures::size)},
            {"slider_false_classes", at_levels(tally.methods[m], &SetFigures::false_classes)},
            {"slider_empty", at_levels(tally.methods[m], &SetFigures::empty)},
            {"slider_single", at_levels(tally.methods[m], &SetFigures::single)},
            {"slider_single_right", at_levels(tally.methods[m], &SetFigures::single_right)},
            {"slider_full", at_levels(tally.methods[m], &SetFigures::full)},
            {"set_size_map", map_blob(sizes, static_cast<double>(calibrator.classes), calibrator.grid)},
            {"strata", std::move(strata)}};
}
}  // namespace

std::vector<std::string> class_labels(const std::vector<std::string>& given, std::size_t classes) {
    if (!given.empty() && given.size() != classes)
        fail(ErrorKind::usage, "`class_names` has {} names, but there are {} classes", given.size(), classes);
    std::vector<std::string> names = given;
    for (std::size_t c = names.size(); c < classes; ++c) names.push_back(fmt::format("class {}", c));
    return names;
}

ordered_json report_data(const ReportInput& input, const Tally& tally, const ReportLimits& limits) {
    const Grid grid = input.test->grid();
    const Calibrator& first = *input.calibrators.front();
    const std::size_t strata = first.strata();
    const PixelCurves curves = pixel_curves(input, tally, limits);
    ordered_json methods = ordered_json::array(), calibration = ordered_json::array(),
                 tested = ordered_json::array(), reliability = ordered_json::array();
    std::vector<ordered_json> made(input.calibrators.size());
    parallel_for(made.size(), [&](std::size_t m) { made[m] = method_json(input, tally, curves, m); });
    for (ordered_json& one : made) methods.push_back(std::move(one));
    for (std::size_t s = 0; s < strata; ++s)
        calibration.push_back(counts_blob(first.counts.data() + s * grid.pixels(), grid));
    for (std::size_t c = 0; c < input.test->classes(); ++c)
        tested.push_back(counts_blob(tally.samples.data() + c * grid.pixels(), grid));
    for (const Reliability& one : input.evaluation->probabilities.classes) {
        reliability.push_back(reliability_json(one));
        reliability.back()["ece"] = number(one.ece);
    }
    std::vector<std::string> scores;
    for (const Calibrator* const one : input.calibrators)
        if (std::string own = describe(one->options.score);
            std::find(scores.begin(), scores.end(), own) == scores.end())
            scores.push_back(std::move(own));
    ordered_json examples = examples_json(input, tally, limits.example_bytes);
    std::vector<std::size_t> images;
    for (const ordered_json& one : examples) images.push_back(one["image"].get<std::size_t>());
    const bool drawn = input.comparison != nullptr && input.comparison->draws > 1;
    return {{"schema", 1},
            {"title", input.title},
            {"version", KANDINSKY_VERSION},
            {"grid", {grid.height, grid.width}},
            {"classes", class_labels(input.class_names, input.test->classes())},
            {"pooled", first.options.condition == Condition::none},
            {"shown", input.classes},
            {"alpha", input.alpha},
            {"images", {{"cal", first.images}, {"test", input.evaluation->images}}},
            {"groups", first.grouped ? ordered_json(first.groups) : ordered_json(nullptr)},
            {"draws", drawn ? input.comparison->draws : 1},
            {"coverage_block", curves.block},
            {"curve_stride", curves.stride},
            {"score", fmt::format("{}", fmt::join(scores, " or "))},
            {"score_range", {curves.range.low, curves.range.high}},
            {"references", curves.references},
            {"methods", std::move(methods)},
            {"calibration_counts", std::move(calibration)},
            {"test_counts", std::move(tested)},
            {"labelled", counts_blob(tally.labelled.data(), grid)},
            {"reliability", std::move(reliability)},
            {"examples", std::move(examples)},
            {"outlines", outlines_json(input, images)},
            {"training", input.training},
            {"provenance", input.provenance}};
}

}  // namespace kandinsky
