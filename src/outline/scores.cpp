#include "outline/scores.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <kandinsky/predictor.hpp>
#include <numbers>

#include "core/base/fail.hpp"
#include "outline/distance.hpp"

namespace kandinsky {

namespace {
constexpr std::pair<OutlineScore::Kind, const char*> kNames[] = {
    {OutlineScore::Kind::distance, "distance"},
    {OutlineScore::Kind::relative, "relative"},
    {OutlineScore::Kind::probability, "probability"},
    {OutlineScore::Kind::field, "field"},
    {OutlineScore::Kind::doubt, "doubt"}};
constexpr float kLikely = 0.1f, kPossible = 0.01f;  // thresholds of two of the masks of `doubt`
}  // namespace

std::string name_of(const OutlineScore& score) {
    for (const auto& [kind, name] : kNames)
        if (kind == score.kind) return score.weight > 0 ? fmt::format("{}:{}", name, score.weight) : name;
    return {};
}

OutlineScore outline_score(const std::string& name) {
    const std::size_t colon = name.find(':');
    for (const auto& [kind, known] : kNames) {
        if (name.substr(0, colon) != known) continue;
        OutlineScore out{kind, 0};
        if (colon == std::string::npos) return out;
        if (kind == OutlineScore::Kind::probability || kind == OutlineScore::Kind::field) break;
        const char* const last = name.data() + name.size();
        const auto [end, status] = std::from_chars(name.data() + colon + 1, last, out.weight);
        if (status == std::errc() && end == last && out.weight > 0 && out.weight <= 1e6) return out;
    }
    fail(ErrorKind::usage,
         "`score` is '{}', but must be auto, distance, relative, doubt, probability or field; distance:10, "
         "relative:10 and doubt:10 add 10 (1 - p) pixels to the distance",
         name);
}

namespace outline {

std::vector<std::uint8_t> predicted_mask(const Case& one, std::size_t cls) {
    const std::size_t voxels = one.extent.voxels(), classes = one.probs.size() / voxels;
    const float* const own = one.probs.data() + cls * voxels;
    std::vector<std::uint8_t> mask(voxels, 1);
    for (std::size_t c = 0; c < classes; ++c) {
        const float* const other = one.probs.data() + c * voxels;
        if (c < cls)
            for (std::size_t v = 0; v < voxels; ++v) mask[v] = mask[v] & (own[v] > other[v] ? 1 : 0);
        else if (c > cls)
            for (std::size_t v = 0; v < voxels; ++v) mask[v] = mask[v] & (own[v] >= other[v] ? 1 : 0);
    }
    return mask;
}

namespace {
/// The side of a square or cube as large as that many voxels.
double side_of(const Case& one, double voxels) {
    const double area = voxels * one.spacing[1] * one.spacing[2];
    return one.extent.depth > 1 ? std::cbrt(area * one.spacing[0]) : std::sqrt(area);
}
}  // namespace

ClassScores::ClassScores(const Case& one, std::size_t cls, const std::vector<float>* field)
    : case_(one),
      probs_(one.probs.data() + cls * one.extent.voxels()),
      mask_(predicted_mask(one, cls)),
      distance_(one.extent.voxels()) {
    if (field != nullptr) field_ = field->data() + cls * one.extent.voxels();
    signed_distances(mask_, one.extent, one.spacing, distance_);
    pixel_ = std::sqrt(one.spacing[1] * one.spacing[2]);
    double size = 0;
    for (const std::uint8_t m : mask_) size += m;
    if (size == 0) size = 1;
    radius_ = side_of(one, size) * (one.extent.depth > 1 ? std::cbrt(3 / (4 * std::numbers::pi))
                                                         : std::sqrt(1 / std::numbers::pi));
}

/// The mean of the signed distances to the predicted mask and to its unions with p > 0.1 and p > 0.01.
void ClassScores::mean_distances(float* out) const {
    const std::size_t voxels = distance_.size();
    std::vector<std::uint8_t> mask(voxels);
    std::vector<float> far(voxels);
    std::copy(distance_.begin(), distance_.end(), out);
    for (const float level : {kLikely, kPossible}) {
        for (std::size_t v = 0; v < voxels; ++v) mask[v] = mask_[v] | (probs_[v] > level ? 1 : 0);
        signed_distances(mask, case_.extent, case_.spacing, far);
        for (std::size_t v = 0; v < voxels; ++v) out[v] += far[v];
    }
    for (std::size_t v = 0; v < voxels; ++v) out[v] /= 3.0f;
}

void ClassScores::make(const OutlineScore& score, float* out) const {
    const std::size_t voxels = distance_.size();
    const auto radius = static_cast<float>(radius_), weight = static_cast<float>(score.weight * pixel_);
    switch (score.kind) {
        case OutlineScore::Kind::distance:
        case OutlineScore::Kind::relative:
            for (std::size_t v = 0; v < voxels; ++v) out[v] = distance_[v] + weight * (1.0f - probs_[v]);
            if (score.kind == OutlineScore::Kind::relative)
                for (std::size_t v = 0; v < voxels; ++v) out[v] /= radius;
            return;
        case OutlineScore::Kind::doubt: {
            mean_distances(out);
            double doubtful = 1;  // positive even if the model has no uncertain voxels
            for (std::size_t v = 0; v < voxels; ++v)
                doubtful += probs_[v] > kLikely && probs_[v] < 1 - kLikely;
            const auto scale = static_cast<float>(std::sqrt(radius_ * side_of(case_, doubtful)));
            for (std::size_t v = 0; v < voxels; ++v) out[v] = (out[v] + weight * (1.0f - probs_[v])) / scale;
            return;
        }
        case OutlineScore::Kind::probability:
            for (std::size_t v = 0; v < voxels; ++v) out[v] = 1.0f - probs_[v];
            return;
        case OutlineScore::Kind::field:
            if (field_ == nullptr)
                fail(ErrorKind::usage,
                     "`score field` uses a calibrator's p-values: give `calibrator FILE.kcal`");
            for (std::size_t v = 0; v < voxels; ++v) out[v] = 1.0f - field_[v];
    }
}

std::vector<float> field_values(const Calibrator& calibrator, const Case& one) {
    const std::size_t pixels = one.extent.height * one.extent.width, voxels = one.extent.voxels();
    const std::size_t classes = one.probs.size() / voxels;
    if (calibrator.grid.height != one.extent.height || calibrator.grid.width != one.extent.width ||
        calibrator.classes != classes)
        fail(ErrorKind::data,
             "the calibrator is made for {} x {} pixels (height x width) and {} classes, but an image has {} "
             "x {} pixels and {} classes",
             calibrator.grid.height, calibrator.grid.width, calibrator.classes, one.extent.height,
             one.extent.width, classes);
    std::vector<float> out(classes * voxels), probs(classes * pixels), values(classes * pixels);
    for (std::size_t s = 0; s < one.extent.depth; ++s) {
        for (std::size_t c = 0; c < classes; ++c)
            std::copy_n(one.probs.data() + c * voxels + s * pixels, pixels, probs.data() + c * pixels);
        p_values(calibrator, probs, values);
        for (std::size_t c = 0; c < classes; ++c)
            std::copy_n(values.data() + c * pixels, pixels, out.data() + c * voxels + s * pixels);
    }
    return out;
}

}  // namespace outline
}  // namespace kandinsky
