#pragma once

#include <algorithm>
#include <kandinsky/dataset.hpp>
#include <kandinsky/weights.hpp>
#include <utility>
#include <vector>

#include "core/base/random.hpp"

namespace kandinsky::test {

/// Exchangeable groups of small images, with dependent pixels in an image and dependent images in a group.
/// Each group and each image has a random difficulty: the larger it is, the lower is the probability of the
/// label and the rarer is class 1. The border is harder than the middle. All groups except the last are for
/// calibration.
class Exchangeable {
  public:
    static constexpr std::size_t kSide = 8, kPixels = kSide * kSide, kClasses = 2;

    /// The largest weight of a group.
    static constexpr double kBound = 2;

    /// `grouped`: groups of one to three images; otherwise every image is a group. `unequal`: groups of one
    /// image or of twelve. `shifted`: the new group is drawn with the groups' weights, so it is more
    /// often hard.
    Exchangeable(Random& random, std::size_t calibration_groups, bool grouped, bool unequal = false,
                 bool shifted = false)
        : grouped_(grouped) {
        for (std::size_t group = 0; group <= calibration_groups; ++group) {
            if (group == calibration_groups) first_new_ = groups_.size();
            double mood = random.uniform();
            while (shifted && group == calibration_groups && random.uniform() * kBound > ratio(mood))
                mood = random.uniform();
            const std::size_t images = unequal ? 1 + 11 * random.below(2) : grouped ? 1 + random.below(3) : 1;
            for (std::size_t i = 0; i < images; ++i) {
                groups_.push_back(static_cast<std::int64_t>(group));
                weights_.push_back(ratio(mood));
                add_image(random, mood);
            }
        }
    }

    [[nodiscard]] Dataset calibration() const {
        const std::size_t images = first_new_;
        const auto part = [&](const auto& all, std::size_t per_image) {
            return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(images * per_image));
        };
        return {Array::copy_of(part(probs_, kClasses * kPixels), {images, kClasses, kSide, kSide}),
                Array::copy_of(part(labels_, kPixels), {images, kSide, kSide}),
                grouped_ ? Array::copy_of(part(groups_, 1), {images}) : Array()};
    }

    /// The known likelihood ratio of each calibration image's group.
    [[nodiscard]] GroupWeights weights() const {
        return {.of_row = {weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(first_new_)},
                .bound = kBound};
    }

    /// The pairs (image, pixel) of the new group for which choose(pixel, label) is true.
    template <class Choose>
    [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> new_pixels(Choose&& choose) const {
        std::vector<std::pair<std::size_t, std::size_t>> out;
        for (std::size_t image = first_new_; image < groups_.size(); ++image)
            for (std::size_t p = 0; p < kPixels; ++p)
                if (choose(p, new_label(image, p))) out.emplace_back(image, p);
        return out;
    }
    [[nodiscard]] std::size_t new_label(std::size_t image, std::size_t pixel) const {
        return labels_[image * kPixels + pixel];
    }
    [[nodiscard]] std::vector<float> new_probs(std::size_t image) const {
        const auto first = probs_.begin() + static_cast<std::ptrdiff_t>(image * kClasses * kPixels);
        return {first, first + kClasses * kPixels};
    }

    /// Border and middle as a region map.
    static Array rings() {
        std::vector<std::uint8_t> map;
        for (std::size_t p = 0; p < kPixels; ++p) map.push_back(on_border(p) ? 1 : 0);
        return Array::copy_of(map, {kSide, kSide});
    }

  private:
    static double ratio(double mood) { return 0.1 + 1.9 * mood * mood; }

    static bool on_border(std::size_t p) {
        const std::size_t x = p % kSide, y = p / kSide;
        return std::min(x, y) < 2 || std::max(x, y) >= kSide - 2;
    }

    void add_image(Random& random, double group_mood) {
        const double mood = 0.9 * group_mood + 0.1 * random.uniform();
        std::vector<float> planes[kClasses];
        for (std::size_t p = 0; p < kPixels; ++p) {
            const double share = 0.7 - 0.6 * mood + (on_border(p) ? 0.0 : 0.2);
            const std::size_t label = random.uniform() < share ? 1 : 0;
            const double hard = 0.85 * mood + (on_border(p) ? 0.1 : 0.0) + 0.05 * random.uniform();
            labels_.push_back(static_cast<std::uint8_t>(label));
            planes[label].push_back(static_cast<float>(1 - hard));
            planes[1 - label].push_back(static_cast<float>(hard * random.uniform()));
        }
        for (const auto& plane : planes) probs_.insert(probs_.end(), plane.begin(), plane.end());
    }

    bool grouped_;
    std::size_t first_new_ = 0;
    std::vector<float> probs_;          // [image][class][pixel]
    std::vector<std::uint8_t> labels_;  // [image][pixel]
    std::vector<std::int64_t> groups_;  // [image]
    std::vector<double> weights_;       // [image]
};

}  // namespace kandinsky::test
