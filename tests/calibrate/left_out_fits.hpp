#pragma once

#include <algorithm>
#include <kandinsky/predict.hpp>
#include <vector>

#include "calibrate/moody.hpp"
#include "partition/envelope.hpp"
#include "score/image_features.hpp"

namespace kandinsky::test {

/// What is learnt without one group: curves, and how their levels follow the image.
struct LeftOutFit {
    SmoothCurves curves;
    Adaptation::Shift shift;
};

/// Compares stratum `s` of a calibrator (score lac, leave-one-out, levels by image) with the rule of
/// docs/adapt.md for the fits without each group of `cal`. The sets of new images contain what the rule
/// demands, and at most `growth` times as much.
inline void expect_rule_of_fits(const Calibrator& calibrator, std::uint32_t s, const Made& cal,
                                const std::vector<LeftOutFit>& fits, const Made& fresh, double growth) {
    using partition::GroupLevels;
    const Dataset data = cal.dataset();
    ASSERT_EQ(fits.size(), data.groups());
    GroupLevels levels(Adapt::image);
    for (std::size_t group = 0; group < fits.size(); ++group) {
        const auto& [curves, shift] = fits[group];
        GroupLevels::Counts counts = levels.no_counts();
        for (std::uint32_t image = 0; image < data.images(); ++image) {
            if (data.group_of(image) != group) continue;
            const std::int32_t own = shift.at(features_of(data, image)[s]);
            for (std::size_t p = 0; p < cal.pixels(); ++p)
                if (cal.has(image, s, p))
                    ++counts[GroupLevels::step_of(curves.level(p, 1.0f - cal.prob(image, s, p)), own)];
        }
        levels.add(counts);
    }
    const Adaptation* const found = calibrator.adaptation_of(s);
    ASSERT_NE(found, nullptr) << "choose another seed";
    EXPECT_EQ(found->levels(), levels.values(calibrator.smooth[s].ladder()));
    ASSERT_EQ(found->shifts().size(), fits.size());
    for (const LeftOutFit& fit : fits)  // shifts() has the order of the groups' places
        EXPECT_TRUE(std::find(found->shifts().begin(), found->shifts().end(), fit.shift) !=
                    found->shifts().end());
    // If the rule accepts a score for some fit, the class is in the set.
    const Predictor predictor(calibrator, 0.2, EmptySets::keep);
    const std::int32_t level = found->levels()[calibrator.smooth[s].rung_of(0.2)];
    std::vector<std::uint8_t> sets(fresh.recipe.classes * fresh.pixels());
    std::size_t demanded = 0, held = 0;
    for (std::size_t n = 0; n < fresh.recipe.images; ++n) {
        const std::vector<float> probs = image_of(fresh, n);
        predictor.sets(probs, sets);
        const ImageFeatures features =
            image_features(std::span(probs).subspan(s * fresh.pixels(), fresh.pixels()));
        for (std::size_t p = 0; p < fresh.pixels(); ++p) {
            const float score = 1.0f - fresh.prob(n, s, p);
            const bool in = std::any_of(fits.begin(), fits.end(), [&](const LeftOutFit& fit) {
                return Adaptation::value_of(fit.curves.level(p, score)) - fit.shift.at(features) <= level;
            });
            demanded += in;
            held += sets[s * fresh.pixels() + p];
            ASSERT_GE(sets[s * fresh.pixels() + p], in);
        }
    }
    EXPECT_LT(static_cast<double>(held), growth * static_cast<double>(demanded)) << "not much more";
}

}  // namespace kandinsky::test
