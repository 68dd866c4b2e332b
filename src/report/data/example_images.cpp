#include "report/data/example_images.hpp"

#include <algorithm>
#include <numeric>

#include "calibrate/adapted_values.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "evaluate/kernels.hpp"
#include "report/data/blob.hpp"
#include "score/image_features.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

std::vector<std::size_t> example_images(const Tally& tally, std::size_t wanted) {
    std::vector<std::size_t> order(tally.undecided.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::uint64_t> kinds = tally.kinds;
    std::sort(kinds.begin(), kinds.end());
    const std::uint64_t lively = kinds[(kinds.size() - 1) * 3 / 4];
    std::erase_if(order, [&](std::size_t image) { return tally.kinds[image] < lively; });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tally.undecided[a] < tally.undecided[b]; });
    std::vector<std::size_t> chosen;
    const double last = static_cast<double>(order.size() - 1);
    for (std::size_t i = 0; i < wanted; ++i) {
        const double place =
            wanted == 1 ? 0.5 : 0.1 + 0.8 * static_cast<double>(i) / static_cast<double>(wanted - 1);
        const std::size_t image = order[static_cast<std::size_t>(place * last + 0.5)];
        if (std::find(chosen.begin(), chosen.end(), image) == chosen.end()) chosen.push_back(image);
    }
    return chosen;
}

std::vector<std::uint8_t> set_codes(const Calibrator& calibrator, const Dataset& test, std::size_t image) {
    const std::size_t pixels = test.grid().pixels(), classes = test.classes();
    const Tiles tiles{pixels, std::min<std::size_t>(1024, pixels)};
    const auto by_curve = thresholds_by_curve(calibrator, slider_alphas());
    ScoredTile tile(test, calibrator.options.score, tiles.length);
    std::vector<float> thresholds(calibrator.strata() * kSliderLevels * tiles.length);
    std::vector<std::uint8_t> codes(classes * pixels);
    std::vector<std::int32_t> shifts(calibrator.strata());
    if (calibrator.adapts()) shifts_of(calibrator, features_of(test, image), shifts);
    for (std::size_t t = 0; t < tiles.count(); ++t) {
        const PixelRange range = tiles[t];
        tile.load(image, range);
        const std::vector<float> values = values_of(calibrator, tile, range, shifts);
        tile.show(values.data());
        fill_thresholds(calibrator, by_curve, range, thresholds.data());
        for (std::size_t c = 0; c < classes; ++c) {
            std::uint8_t* const out = codes.data() + c * pixels + range.begin;
            first_covering_level(tile.scores(c),
                                 thresholds.data() + calibrator.stratum_of(c) * kSliderLevels * range.size(),
                                 kSliderLevels, range.size(), out);
            for (std::size_t i = 0; i < range.size(); ++i)
                out[i] = static_cast<std::uint8_t>(kSliderLevels - out[i]);
        }
    }
    return codes;
}

namespace {
/// The label of every pixel; the highest class below 255 where classes overlap, 255 without such a class or
/// where the label is ignored.
std::vector<std::uint8_t> truth_of(const Dataset& test, std::size_t image) {
    const std::size_t pixels = test.grid().pixels();
    std::vector<std::uint8_t> member(test.classes() * pixels), valid(pixels), out(pixels, 255);
    test.read_truth(image, {0, pixels}, member, valid);
    for (std::size_t c = 0; c < std::min<std::size_t>(test.classes(), 255); ++c)
        for (std::size_t p = 0; p < pixels; ++p)
            if (valid[p] != 0 && member[c * pixels + p] != 0) out[p] = static_cast<std::uint8_t>(c);
    return out;
}

/// For every pixel, the most probable of the first 255 classes. The page adds it to empty sets.
std::vector<std::uint8_t> likeliest(const std::vector<float>& probs, std::size_t classes,
                                    std::size_t pixels) {
    std::vector<std::uint8_t> out(pixels);
    for (std::size_t c = 1; c < std::min<std::size_t>(classes, 255); ++c)
        for (std::size_t p = 0; p < pixels; ++p)
            if (probs[c * pixels + p] > probs[out[p] * pixels + p]) out[p] = static_cast<std::uint8_t>(c);
    return out;
}

std::vector<std::uint8_t> in_percent(const std::vector<float>& probs) {
    std::vector<std::uint8_t> out(probs.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = quantised(static_cast<double>(probs[i]), 1, 100);
    return out;
}

ordered_json example_json(const ReportInput& input, std::size_t image) {
    const Dataset& test = *input.test;
    const std::size_t width = test.grid().width, height = test.grid().height, classes = test.classes();
    std::vector<float> probs(classes * width * height);
    test.read_probs(image, {0, width * height}, probs);
    std::vector<ordered_json> sets(input.calibrators.size());
    parallel_for(sets.size(), [&](std::size_t m) {
        sets[m] = blob(set_codes(*input.calibrators[m], test, image), {classes, height, width}, {width});
    });
    ordered_json photo = nullptr;
    if (input.photo) {
        const Array picture = input.photo(image);
        const std::vector<std::uint8_t> bytes = picture.to_vector<std::uint8_t>();
        if (picture.shape() != std::vector<std::size_t>{height, width, 3})
            fail(ErrorKind::internal, "[report] a photo of shape {}", picture.view().shape_text());
        photo = blob(bytes, {height, width, 3}, {3, 3 * width});
    }
    return {{"image", image},
            {"photo", std::move(photo)},
            {"group", test.grouped() ? ordered_json(test.group_id(image)) : ordered_json(nullptr)},
            {"truth", blob(truth_of(test, image), {height, width}, {width})},
            {"likeliest", blob(likeliest(probs, classes, width * height), {height, width}, {width})},
            {"probabilities", blob(in_percent(probs), {classes, height, width}, {width, width * height})},
            {"sets", std::move(sets)}};
}
}  // namespace

ordered_json examples_json(const ReportInput& input, const Tally& tally, std::size_t limit) {
    ordered_json out = ordered_json::array();
    std::size_t bytes = 0;
    for (const std::size_t image : example_images(tally, 3)) {
        ordered_json one = example_json(input, image);
        std::size_t size = one["truth"]["data"].get_ref<const std::string&>().size() +
                           one["probabilities"]["data"].get_ref<const std::string&>().size();
        if (!one["photo"].is_null()) size += one["photo"]["data"].get_ref<const std::string&>().size();
        for (const ordered_json& sets : one["sets"])
            size += sets["data"].get_ref<const std::string&>().size();
        if (!out.empty() && bytes + size > limit) continue;
        bytes += size;
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace kandinsky
