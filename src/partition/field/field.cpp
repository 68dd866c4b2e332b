#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "core/base/fail.hpp"
#include "curve/curve_storage.hpp"
#include "partition/envelope.hpp"
#include "partition/field/describe.hpp"
#include "partition/field/leave_one_out.hpp"
#include "partition/typed_options.hpp"

namespace kandinsky::partition::field {

extern const Method kMethod;
using Type = MethodOption::Type;

namespace {
std::vector<double> parse_bandwidths(const std::string& text) {
    std::vector<double> all;
    for (const char* at = text.data(); text != "auto";) {
        const char* const end = text.data() + text.size();
        double value = 0;
        const auto [next, status] = std::from_chars(at, end, value);
        if (status != std::errc() || !(value >= 0.3 && value <= 1e4) || (next != end && *next != ','))
            fail(ErrorKind::usage,
                 "`field_bandwidths` is '{}', but must be 'auto' or pixels from 0.3 to 10000 separated by "
                 "commas",
                 text);
        all.push_back(value);
        if (next == end) break;
        at = next + 1;
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Options read_options(const MethodSettings* settings) {
    PartitionInput input;
    input.settings = settings;
    Options options;
    options.folds = static_cast<std::size_t>(integer_option(kMethod, input, "field-folds", 2, 200));
    options.bins = static_cast<std::size_t>(integer_option(kMethod, input, "field-bins", 8, 256));
    options.order = text_option(kMethod, input, "field-fold-order", {"content", "contiguous"}) == "content"
                        ? FoldOrder::content
                        : FoldOrder::contiguous;
    options.candidates.rings = text_option(kMethod, input, "field-rings", {"on", "off"}) == "on";
    options.candidates.mirror = text_option(kMethod, input, "field-mirror", {"on", "off"}) == "on";
    options.locality.place = real_option(kMethod, input, "place", 0, 1);
    options.locality.support = text_option(kMethod, input, "field-support", {"on", "off"}) == "on";
    options.candidates.bandwidths = parse_bandwidths(text_option(kMethod, input, "field-bandwidths"));
    return options;
}

/// Curves without a score: the class is in every set.
SoftCurves nothing_known(const SoftInput& input, const Cells& cells) {
    SoftCurves result;
    SmoothStorage storage;
    storage.side = cells.side();
    result.curves = smooth_from(input.data.grid(), input.ladder, std::move(storage));
    result.partition.geometry = describe({}, 0, cells, 0);
    return result;
}

/// Makes the curves of a batch of strata whose counts fit into memory together.
void fit_batch(const LevelImages& images, const Options& options, const Cells& cells, const Folds& folds,
               const std::vector<std::uint32_t>& strata, std::vector<SoftCurves>& out) {
    const SoftInput& input = images.learn;
    const bool grouped = input.pooling == Pooling::groups, adapts = input.features != nullptr;
    const std::vector<ScoreGrid> grids = make_score_grids(input, strata, options.bins);
    std::vector<Learnt> learnt;
    std::vector<FoldDistributions> fits;
    {
        std::vector<FoldHistograms> histograms = count_scores(input, strata, grids, folds, cells);
        for (std::size_t i = 0; i < strata.size(); ++i) {
            learnt.push_back(
                learn(histograms[i], options, cells, grouped && (images.same || adapts), input.progress));
            fits.push_back(std::move(learnt.back().fit));
            histograms[i] = FoldHistograms(0, 0, 0);
        }
    }
    FoldLevels fitted;
    if (grouped)
        fitted = fold_levels(images, strata, std::vector<Cells>(strata.size(), cells), folds, grids, fits);
    for (std::size_t i = 0; i < strata.size(); ++i) {
        SmoothStorage storage = storage_on(grids[i], cells, std::move(fits[i].whole));
        if (!adapts) storage.levels = levels_of(input.ladder, grouped ? &fitted.levels[i] : nullptr);
        storage.scores = input.census.totals[strata[i]];
        storage.groups = grouped ? fitted.levels[i].groups() : 0;
        const auto place =
            std::find(input.strata.begin(), input.strata.end(), strata[i]) - input.strata.begin();
        SoftCurves& made = out[static_cast<std::size_t>(place)];
        if (adapts)
            made.adaptation = adapted({fitted.shifts[i].shift}, fitted.levels[i], input.ladder, storage);
        made.curves = smooth_from(input.data.grid(), input.ladder, std::move(storage));
        made.partition.geometry =
            describe(learnt[i], folds.count, cells, grids[i].bins(), adapts ? &fitted.shifts[i] : nullptr);
    }
}

std::vector<SoftCurves> fit_images(const LevelImages& images, const Options& options, const Cells& cells) {
    const SoftInput& input = images.learn;
    std::vector<SoftCurves> out(input.strata.size(), nothing_known(input, cells));
    const Folds folds =
        make_folds(input.data, input.census.image_hash, options.folds, options.order, input.seed);
    for (const std::vector<std::uint32_t>& strata :
         batches_of(input, folds.count, options.bins, cells.grid()))
        fit_batch(images, options, cells, folds, strata, out);
    return out;
}

/// Learns distributions from some groups and sets levels with the others.
std::vector<SoftCurves> fit_split(const SoftInput& input, const Options& options, const Cells& cells) {
    const DataSplit& data_split = *input.data_split;
    if (data_split.nobody_learns || data_split.nobody_levels)
        return std::vector<SoftCurves>(input.strata.size(), nothing_known(input, cells));
    std::vector<SoftCurves> out;
    with_sides(input, [&](const LevelImages& sides) { out = fit_images(sides, options, cells); });
    return out;
}

/// The blend's weights for a fold come from the products of the other folds.
CrossFit cross_fit(const CrossFitInput& input) {
    const Options options = read_options(input.settings);
    const Grid grid = input.cells.grid();
    std::vector<Candidate> candidates = candidates_on(input.cells, options.candidates);
    const auto fields =
        std::make_shared<const FoldFields>(fold_fields(input.cells, input.histograms, candidates));
    const ErrorProducts products =
        cross_validate(input.cells, input.histograms, candidates, *fields, input.progress);
    const std::size_t bins = input.histograms.bins();
    const Locality locality = options.locality;
    return {[=](std::size_t fold) {
        std::vector<double> weights(candidates.size()), others(candidates.size() * candidates.size());
        weights[0] = 1;
        std::size_t judges = 0;
        for (std::size_t f = 0; f < products.by_fold.size(); ++f) {
            if (f == fold || products.by_fold[f].empty()) continue;
            ++judges;
            for (std::size_t i = 0; i < others.size(); ++i) others[i] += products.by_fold[f][i];
        }
        for (double& value : others) value /= static_cast<double>(std::max<std::size_t>(1, judges));
        if (judges > 0) weights = simplex_minimum(others, candidates.size(), kRidge);
        return blend(grid, *(*fields)[fold], weights, bins, locality);
    }};
}

std::vector<SoftCurves> fit_curves(const SoftInput& input) {
    Options options = read_options(input.settings);
    const Cells cells(input.data.grid());
    if (input.leave_one_out && options.order == FoldOrder::contiguous)
        fail(ErrorKind::usage,
             "`promise loo` needs folds by content; with `field_fold_order contiguous` use `promise split` "
             "or none");
    if (input.leave_one_out) options.order = FoldOrder::content_runs;
    // With pooling by pixels this is one fit of leave-one-out: the data already lack one group.
    if (input.leave_one_out && input.pooling == Pooling::pixels)
        options = for_groups(std::move(options), static_cast<double>(input.census.images) /
                                                     static_cast<double>(input.census.groups));
    const bool grouped = input.pooling == Pooling::groups;
    std::vector<SoftCurves> result = grouped && input.leave_one_out ? leave_one_out(input, options, cells)
                                     : grouped && input.data_split != nullptr
                                         ? fit_split(input, options, cells)
                                         : fit_images({input, input}, options, cells);
    for (SoftCurves& one : result) cells.divide(one.partition);
    return result;
}
}  // namespace

const Method kMethod{
    .name = "field",
    .summary = "every pixel borrows scores from its surroundings, as far as cross-validation finds best",
    .standard = true,
    .uses_labels = true,
    .options =
        {{"field-folds", Type::integer, "5", "number of folds of the cross-validation, 2 to 200"},
         {"field-fold-order", Type::text, "content",
          "'content': folds by group id or image content; 'contiguous': by position, for video"},
         {"place", Type::real, "1",
          "dependence of method field on the place, from 0 (one threshold and the smallest sets) to 1 (the "
          "right coverage at every place)"},
         {"field-support", Type::text, "on",
          "blend with the image-wide distribution where a class has little data: on or off"},
         {"field-rings", Type::text, "on",
          "share scores between pixels where the class is equally common: on or off"},
         {"field-mirror", Type::text, "on",
          "share scores between a pixel and its left-right mirror image: on or off"},
         {"field-bandwidths", Type::text, "auto",
          "bandwidths of the kernels in pixels, separated by commas, or 'auto' for a choice by the size of "
          "the grid"},
         {"field-bins", Type::integer, "128", "number of score bins of the distributions, 8 to 256"}},
    .order = 5,
    .fit_curves = fit_curves,
    .cross_fit = cross_fit,
};

}  // namespace kandinsky::partition::field

namespace kandinsky {

OptionWords words_of(const FieldOptions& options) {
    const bool by_content = options.fold_order == FieldOptions::FoldOrder::content;
    return {{"field-folds", word(options.folds)},
            {"field-fold-order", by_content ? "content" : "contiguous"},
            {"place", word(options.place)},
            {"field-support", on_or_off(options.support)},
            {"field-rings", on_or_off(options.rings)},
            {"field-mirror", on_or_off(options.mirror)},
            {"field-bandwidths",
             options.bandwidths.empty() ? "auto" : fmt::format("{}", fmt::join(options.bandwidths, ","))},
            {"field-bins", word(options.bins)}};
}

MethodChoice::MethodChoice(const FieldOptions& options)
    : MethodChoice(choice_of(partition::field::kMethod, options)) {}

}  // namespace kandinsky
