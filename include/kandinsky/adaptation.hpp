#pragma once

#include <cstdint>
#include <kandinsky/curve.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/image_features.hpp>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// What the level of an image depends on.
enum class Adapt {
    none,   ///< on nothing: all images have one level
    image,  ///< on features of its own outputs, which need no label
};
[[nodiscard]] std::string_view name_of(Adapt adapt);  ///< the option's word
[[nodiscard]] Adapt adapt_of(std::string_view name);  ///< throws a usage error for an unknown name

/// How the level of one stratum follows the image. A score s with u = F(s) gets the value v = logit(u) -
/// shift(image), and the class is in the set if v is at most the level of 1 - alpha. Values are multiples of
/// 1/256. docs/adapt.md has the rule and the proof.
class Adaptation {
  public:
    static constexpr std::int32_t kUnit = 256;        ///< the value 1
    static constexpr std::int32_t kLargestShift = 4;  ///< shifts lie between minus and plus this
    /// Shifts are rounded up to multiples of this, those of calibration and of new images alike. Few shifts
    /// are then possible, so prediction can store the thresholds of each and compare once. Near a coverage of
    /// 0.9 the rounding changes an image by less than 0.006, and the level corrects the mean.
    static constexpr std::int32_t kStep = kUnit / 8;
    static constexpr std::int32_t kNever = 0x7FFFFFFF;  ///< a level for which there are too few data

    /// The result of one fit: a linear function of the features, which are clipped to the range of the fit.
    struct Shift {
        std::array<double, ImageFeatures::kCount> slope{};  ///< of each feature
        std::array<double, ImageFeatures::kCount> low{};    ///< smaller features count as this
        std::array<double, ImageFeatures::kCount> high{};   ///< larger ones as this
        double constant = 0;                                ///< constant term
        std::int32_t step = kStep;  ///< shifts are multiples of it; 1 in files of format version 3

        /// In units of 1 / kUnit, rounded up to a multiple of `step`.
        [[nodiscard]] std::int32_t at(const ImageFeatures& features) const;
        [[nodiscard]] bool none() const;  ///< whether it is 0 for every image
        friend bool operator==(const Shift&, const Shift&) = default;
    };

    Adaptation() = default;  ///< none: empty()
    /// `levels`: of each rung of a ladder, ascending. Throws a data error for inconsistent numbers.
    Adaptation(std::vector<Shift> shifts, std::vector<std::int32_t> levels);

    [[nodiscard]] bool empty() const { return shifts_.empty(); }                ///< all images have one level
    [[nodiscard]] const std::vector<Shift>& shifts() const { return shifts_; }  ///< of all fits
    [[nodiscard]] const std::vector<std::int32_t>& levels() const { return levels_; }  ///< [rung]
    [[nodiscard]] std::int32_t step() const {
        return empty() ? kStep : shifts_.front().step;
    }  ///< of all fits
    /// The largest shift of all fits. No allocation; cost: fits x features.
    [[nodiscard]] std::int32_t shift(const ImageFeatures& features) const;
    /// The least and largest shifts that shift() can have.
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> range() const;

    /// logit(u) for u = level / SmoothCurves::kOne; 0 and 1 count as half a step inside.
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
