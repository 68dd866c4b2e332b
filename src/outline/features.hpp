#pragma once

#include <kandinsky/measure.hpp>

#include "outline/nested.hpp"

namespace kandinsky::outline {

/// Estimates of the size of a class in a group from the probabilities, and the truth. All numbers are areas
/// or volumes: each voxel, or its probability, counts with the voxel's size.
struct GroupFeatures {
    double voxel = 0;                ///< size of the smallest voxel
    double predicted = 0, soft = 0;  ///< size of the predicted mask; sum of the probabilities above 0.1
    double sure = 0, possible = 0;   ///< size of the voxels with p > 0.9; with p > 0.1
    double overlap = 0;              ///< sum of the probabilities in the predicted mask
    double truth = 0, hit = 0;       ///< size of the object, and of its part in the predicted mask

    [[nodiscard]] double expected_dice() const;
    [[nodiscard]] double dice() const;  ///< 1 where both are empty
};

/// [class of `classes`][group], groups in ascending order of their ids. Ignored voxels count nowhere.
[[nodiscard]] std::vector<std::vector<GroupFeatures>> collect_features(
    const CaseSource& cases, const std::vector<std::uint32_t>& classes, Progress& progress);

/// An interval [low, high] before calibration, which widens it to [low - t scale, high + t scale].
struct Start {
    double low = 0, high = 0, scale = 1;

    /// The smallest t for which the interval contains the truth.
    [[nodiscard]] double strangeness(double truth) const;
    /// The interval, clipped to [least, most]; its middle if it would be empty.
    [[nodiscard]] std::pair<double, double> widened(double t, double least, double most) const;
};

/// The quantity that an interval is for.
enum class Quantity { size, dice };

/// The names of the possible intervals before calibration. Throws a usage error if `by` needs probabilities
/// and there are only masks (`hard`).
[[nodiscard]] std::vector<std::string> starts(Quantity what, MeasureBy by, bool hard);
[[nodiscard]] Start start_of(Quantity what, const std::string& name, const GroupFeatures& of);
[[nodiscard]] std::pair<double, double> bounds_of(Quantity what);  ///< limits of the truth

/// Calibrates one quantity of one class with the features of its groups.
[[nodiscard]] MeasureLevel measure_level(Quantity what, const std::vector<const GroupFeatures*>& groups,
                                         const std::vector<std::string>& names, const Assurance& wanted,
                                         std::uint64_t seed);
/// The interval of a group.
[[nodiscard]] std::pair<double, double> interval_of(Quantity what, const MeasureLevel& level,
                                                    const GroupFeatures& of);

}  // namespace kandinsky::outline
