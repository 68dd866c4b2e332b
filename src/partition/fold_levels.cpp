#include "partition/fold_levels.hpp"
#include "curve/curve_storage.hpp"

#include <nlohmann/json.hpp>

#include "partition/envelope.hpp"

namespace kandinsky::partition {

namespace {
/// [image that sets levels][place in the strata] the shift of each image. If the shifts were learnt from the
/// same images, an image gets its shift from what was learnt without its fold.
ImageShifts image_shifts(const LevelImages& images, std::span<const std::uint32_t> strata, const Folds& folds,
                         const std::vector<std::vector<ShiftSample>>& samples,
                         const std::vector<LearntShift>& learnt) {
    const SoftInput& level = images.level;
    ImageShifts out(level.data.images(), std::vector<std::int32_t>(strata.size()));
    for (std::size_t i = 0; i < strata.size(); ++i) {
        const LearntShift& own = learnt[i];
        if (own.shift.none()) continue;
        std::vector<Adaptation::Shift> by_fold{own.shift};
        if (images.same) by_fold.clear();
        for (std::uint32_t fold = 0; images.same && fold < folds.count; ++fold)
            by_fold.push_back(shift_without(samples[i], own, fold));
        for (std::size_t image = 0; image < level.data.images(); ++image)
            out[image][i] =
                by_fold[images.same ? folds.of_image[image] : 0].at((*level.features)[image][strata[i]]);
    }
    return out;
}
}  // namespace

FoldLevels fold_levels(const LevelImages& images, std::span<const std::uint32_t> strata,
                       std::span<const Cells> cells, const Folds& folds, const std::vector<ScoreGrid>& grids,
                       const std::vector<FoldDistributions>& fits) {
    const SoftInput& input = images.learn;
    std::vector<Judge> judges, whole;
    for (std::size_t i = 0; i < strata.size(); ++i) {
        const auto add = [&](std::vector<Judge>& to,
                             const std::optional<std::vector<std::uint16_t>>& distributions) {
            to[i].by_fold.push_back(
                smooth_from(input.data.grid(), Ladder{}, storage_on(grids[i], cells[i], distributions)));
        };
        judges.push_back({.grid = &grids[i], .by_fold = {}});
        whole.push_back(judges.back());
        for (const auto& one : fits[i].without_fold) add(judges, one);
        if (!images.same) add(whole, fits[i].whole);
    }
    FoldLevels out;
    const bool adapts = input.features != nullptr;
    ImageShifts shifts;
    if (adapts) {
        const std::vector<std::vector<ShiftSample>> samples =
            shift_samples(input, strata, cells, judges, folds);
        for (const std::vector<ShiftSample>& one : samples) out.shifts.push_back(learn_shift(one));
        shifts = image_shifts(images, strata, folds, samples, out.shifts);
    }
    out.levels =
        group_levels(images.level, strata, cells, images.same ? judges : whole,
                     images.same ? folds.of_image : std::vector<std::uint8_t>(images.level.data.images()),
                     adapts ? &shifts : nullptr);
    return out;
}

void with_sides(const SoftInput& input, const std::function<void(const LevelImages&)>& body) {
    const DataSplit& data_split = *input.data_split;
    const auto features_of = [&](const std::vector<std::uint32_t>& images) {
        std::vector<std::vector<ImageFeatures>> out;
        for (const std::uint32_t image : images)
            if (input.features != nullptr) out.push_back((*input.features)[image]);
        return out;
    };
    const auto part = [&](const Dataset& data, const Census& census,
                          const std::vector<std::vector<ImageFeatures>>& features) {
        return SoftInput{.data = data,
                         .census = census,
                         .condition = input.condition,
                         .score = input.score,
                         .strata = input.strata,
                         .pooling = input.pooling,
                         .ladder = input.ladder,
                         .features = input.features != nullptr ? &features : nullptr,
                         .weights = input.weights,
                         .seed = input.seed,
                         .memory = input.memory,
                         .settings = input.settings,
                         .progress = input.progress};
    };
    const Dataset ours = input.data.subset(data_split.learn), others = input.data.subset(data_split.level);
    const Census census = take_census(ours, input.condition, input.progress);
    const auto ours_features = features_of(data_split.learn), others_features = features_of(data_split.level);
    const SoftInput learn = part(ours, census, ours_features),
                    level = part(others, input.census, others_features);
    body({learn, level, false});
}

LearntShift shift_without_group(const Evidence& evidence, std::uint32_t left_out, const Folds& folds,
                                const ScoreGrid& grid, const Cells& cells, const FoldDistributions& fit) {
    std::vector<SmoothCurves> by_fold;
    for (const auto& one : fit.without_fold)
        by_fold.push_back(smooth_from(cells.image(), Ladder{}, storage_on(grid, cells, one)));
    std::size_t images = 0;
    for (const Evidence::Image& image : evidence.images()) images += image.group != left_out;
    std::vector<ShiftSample> samples;
    std::vector<std::int32_t> values, others;
    for (const Evidence::Image& image : evidence.images()) {
        const std::uint32_t fold = folds.of_image[image.group];
        if (image.group == left_out || by_fold[fold].without_data()) continue;
        values.clear();
        for (const auto& [pixel, score] : image.scores)
            values.push_back(Adaptation::value_of(by_fold[fold].level(pixel, score)));
        others.clear();
        for (const auto& [pixel, score] : image.others)
            others.push_back(Adaptation::value_of(by_fold[fold].level(pixel, score)));
        samples.push_back({.group = image.group,
                           .fold = fold,
                           .scores = image.scores.size(),
                           .features = image.features,
                           .values = some_values(values, images),
                           .others = some_values(others, images)});
    }
    return learn_shift(std::move(samples));
}

std::string describe(const LearntShift& shift) {
    nlohmann::ordered_json slopes;
    for (std::size_t k = 0; k < ImageFeatures::kCount; ++k)
        slopes[std::string(ImageFeatures::kNames[k])] = shift.shift.slope[k];
    return nlohmann::ordered_json{
        {"adapts", !shift.shift.none()},    {"ridge", shift.ridge}, {"loss", shift.loss},
        {"plain_loss", shift.plain_loss},   {"scale", shift.scale}, {"price", shift.price},
        {"plain_price", shift.plain_price}, {"slopes", slopes}}
        .dump();
}

}  // namespace kandinsky::partition
