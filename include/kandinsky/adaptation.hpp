#pragma once

#include <cstdint>
#include <kandinsky/curve.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/image_features.hpp>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// What determines the level at which the curves are read for an image.
enum class Adapt {
    none,   ///< nothing: all images have one level
    image,  ///< features of the outputs for the image, which need no label
};
[[nodiscard]] std::string_view name_of(Adapt adapt);  ///< the option's word
[[nodiscard]] Adapt adapt_of(std::string_view name);  ///< throws a usage error for an unknown name

/// How the level of one stratum follows the image. Let F be the distribution of the scores at a pixel. A
/// score s has the value v = logit(F(s)) - shift(image), and the class is in the set if v is at most the
/// level for 1 - alpha. Values are multiples of 1/256. docs/adapt.md has the rule and the proof.
class Adaptation {
  public:
    static constexpr std::int32_t kUnit = 256;        ///< the value 1
    static constexpr std::int32_t kLargestShift = 4;  ///< shifts lie in [-4 kUnit, 4 kUnit]
    /// Shifts are rounded up to multiples of this, at calibration and at prediction. Few shifts are then
    /// possible, so prediction can store thresholds for each. The level corrects the mean effect of rounding;
    /// the rest changes the coverage of an image by less than 0.006 if the coverage is near 0.9.
    static constexpr std::int32_t kStep = kUnit / 8;
    static constexpr std::int32_t kNever = 0x7FFFFFFF;  ///< a level for which there are too few data

    /// The result of one fit: a linear function of the features, which are clipped to the range of the fit.
    struct Shift {
        std::array<double, ImageFeatures::kCount> slope{};  ///< of each feature
        std::array<double, ImageFeatures::kCount> low{};    ///< smaller features count as this
        std::array<double, ImageFeatures::kCount> high{};   ///< larger features count as this
        double constant = 0;                                ///< constant term
        std::int32_t step = kStep;  ///< shifts are multiples of it; 1 in files of format version 3

        /// The shift of an image with these features, in units of 1 / kUnit and rounded up to a multiple of
        /// `step`.
        [[nodiscard]] std::int32_t at(const ImageFeatures& features) const;
        [[nodiscard]] bool none() const;  ///< whether it is 0 for every image
        friend bool operator==(const Shift&, const Shift&) = default;
    };

    Adaptation() = default;  ///< no shifts: empty() is true
    /// `levels`: one for each rung of a ladder. Throws a data error if they do not ascend, if a number is not
    /// finite or out of range, or if the steps differ.
    Adaptation(std::vector<Shift> shifts, std::vector<std::int32_t> levels);

    [[nodiscard]] bool empty() const { return shifts_.empty(); }                ///< all images have one level
    [[nodiscard]] const std::vector<Shift>& shifts() const { return shifts_; }  ///< one for each fit
    [[nodiscard]] const std::vector<std::int32_t>& levels() const { return levels_; }  ///< [rung]
    /// Shift::step, which is the same for all fits.
    [[nodiscard]] std::int32_t step() const { return empty() ? kStep : shifts_.front().step; }
    /// The largest shift over all fits, in units of 1 / kUnit. No allocation; cost: fits x features.
    [[nodiscard]] std::int32_t shift(const ImageFeatures& features) const;
    /// Lower and upper bound of shift() over all images.
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> range() const;

    /// logit(u) for u = level / SmoothCurves::kOne, in units of 1 / kUnit. The levels 0 and kOne count as 1/2
    /// and kOne - 1/2, so the value is finite.
    [[nodiscard]] static std::int32_t value_of(std::uint32_t level);
    /// The largest level whose value is at most `value`; 0 if there is none.
    [[nodiscard]] static std::uint32_t level_at(std::int32_t value);
    /// The level at which an image with that shift reads its curves at a rung, in units of 1 /
    /// SmoothCurves::kOne. SmoothCurves::kNever if there are too few data for the rung.
    [[nodiscard]] std::uint32_t level(std::size_t rung, std::int32_t shift) const;

  private:
    std::vector<Shift> shifts_;
    std::vector<std::int32_t> levels_;
};

}  // namespace kandinsky
