#pragma once

#include <kandinsky/adaptation.hpp>
#include <optional>
#include <span>
#include <vector>

#include "core/team/communicator.hpp"

namespace kandinsky::partition {

/// One image for learning how levels depend on the image: values of some of its scores under distributions
/// that were learnt without its fold. The price of a fit is the false share of its sets: the share of pixels
/// with another label whose set contains the class.
struct ShiftSample {
    std::uint64_t group = 0;  ///< number of its group, independent of positions
    std::uint32_t fold = 0;
    std::uint64_t scores = 0;  ///< all scores of the image; an image without scores counts only for the price
    ImageFeatures features;
    std::vector<std::int32_t> values;    ///< in units of 1 / Adaptation::kUnit
    std::vector<std::int32_t> others{};  ///< the same for pixels with another label, for the price
};

/// Whether a pixel is one of the about 1024 pixels of an image at which the price is measured. Independent of
/// the content.
[[nodiscard]] inline bool priced(std::size_t pixel, std::size_t pixels) {
    constexpr std::uint64_t kWanted = 1024, kAll = std::uint64_t{1} << 32;
    return pixel * std::uint64_t{2654435761} % kAll * pixels < kWanted * kAll;  // spread over the image
}

/// The values of an image that are used for learning, evenly spaced: at most 512, whose quantiles have levels
/// accurate to 0.02. With more than 2048 images at most 2^20 / images, but at least 32, to bound the memory.
[[nodiscard]] std::vector<std::int32_t> some_values(std::span<const std::int32_t> all, std::size_t images);

/// Replaces the samples of this rank by those of all ranks.
void share(Communicator& comm, std::vector<ShiftSample>& samples);

/// What was learnt about how levels follow images.
struct LearntShift {
    Adaptation::Shift shift{};  ///< none() if cross-validation found no gain
    double ridge = 0;           ///< chosen by cross-validation
    double loss = 0;            ///< cross-validated pinball loss with ridge and scale
    double plain_loss = 0;      ///< the same with one level for all images
    double scale = 0;           ///< factor of the slopes, chosen together with the ridge; 0: all slopes are 0
    double price = 0;           ///< cross-validated price with ridge and scale, mean over three levels
    double plain_price = 0;     ///< the same with one level for all images
};

/// Learns the dependence by quantile regression (quantile_regression.hpp). Groups have equal weight, which
/// their scores share equally. Cross-validation over the folds chooses the ridge and the scale of the slopes
/// with the smallest loss, among those that are not dearer than one level for all images: the ratio of their
/// prices is at most 1 in the mean over three levels. Levels adapt only if the gain exceeds its standard
/// error. The order of the samples has no effect. With fewer than two folds with scores, nothing is learnt.
[[nodiscard]] LearntShift learn_shift(std::vector<ShiftSample> samples);

/// The shift learnt from the samples of all folds except one, with the ridge and scale of `known`.
[[nodiscard]] Adaptation::Shift shift_without(std::vector<ShiftSample> samples, const LearntShift& known,
                                              std::uint32_t fold);

}  // namespace kandinsky::partition
