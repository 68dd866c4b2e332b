#pragma once

#include <kandinsky/cases.hpp>
#include <kandinsky/export.hpp>

namespace KANDINSKY_API kandinsky {

/// How an interval is made before it is calibrated. docs/questions.md has the formulas.
enum class MeasureBy {
    automatic,  ///< the rule with the narrowest intervals in groups that set no threshold
    quantiles,  ///< size: from the number of voxels with p > 0.9 to that with p > 0.1; Dice: estimated from p
    predicted,  ///< size: that of the predicted mask; Dice: 1
    soft,       ///< size: the sum of the probabilities above 0.1; Dice: as `quantiles`
    relative,   ///< size: as `predicted`; Dice: as `quantiles`; each widened in proportion
};
[[nodiscard]] std::string_view name_of(MeasureBy by);         ///< "auto", "quantiles", ...
[[nodiscard]] MeasureBy measure_by(const std::string& name);  ///< throws a usage error for other words

/// The options of calibrate_measures().
struct MeasureOptions {
    double alpha = 0.1;  ///< share of groups whose interval may miss the truth
    /// 0: alpha holds on average over draws of the calibration groups; else in at least this share of the
    /// draws.
    double confidence = 0;
    /// The interval before calibration; `quantiles` and `soft` are refused if `hard`.
    MeasureBy by = MeasureBy::quantiles;
    bool hard = false;                     ///< the model gives masks, so all probabilities are 0 or 1
    std::uint64_t seed = 0;                ///< of the draw of the groups by which `automatic` chooses
    std::vector<std::uint32_t> classes{};  ///< classes to measure; empty: all except 0
};

/// The interval before calibration, and how far calibration widens it.
struct MeasureLevel {
    std::string start;     ///< "quantiles", "predicted", ...
    double threshold = 0;  ///< the interval is widened by this times its scale (docs/questions.md)
};

/// The intervals of one class.
struct ClassMeasure {
    std::uint32_t number = 0;  ///< of the class
    MeasureLevel size;         ///< of the area or volume
    MeasureLevel dice;         ///< of the Dice coefficient
    double size_width = 0;     ///< mean width over calibration groups; infinite with too few groups
    double dice_width = 1;     ///< mean width over calibration groups
};

/// The calibrated rule that turns predictions into intervals.
struct MeasureRule {
    double alpha = 0.1;                   ///< as in MeasureOptions
    double confidence = 0;                ///< as in MeasureOptions
    bool hard = false;                    ///< as in MeasureOptions
    LengthUnit unit = LengthUnit::pixel;  ///< of lengths; sizes are in squares or cubes of it
    bool volumes = false;                 ///< sizes are volumes
    std::size_t class_count = 0;          ///< of the predictions
    std::size_t groups = 0;               ///< calibration groups
    bool grouped = false;                 ///< a group is more than an image or a volume
    std::vector<ClassMeasure> classes;    ///< those that are measured
};

/// A number with its interval, and the truth where it is known (else NaN).
struct MeasuredInterval {
    double value = 0;  ///< best guess
    double low = 0;    ///< lower end
    double high = 0;   ///< upper end
    double truth = 0;  ///< NaN without labels
};

/// The measurements of one class in one group.
struct Measurement {
    std::int64_t group = 0;    ///< its id
    std::string name;          ///< of its first case; in an array with groups, the group's id
    std::uint32_t number = 0;  ///< of the class
    MeasuredInterval size;     ///< area or volume
    MeasuredInterval dice;     ///< of the predicted mask with the truth; 1 where both are empty
};

/// Calibrates intervals on labelled cases. Groups without the class count too. Groups are read in parallel.
/// Throws a usage error for options out of range or cases without labels.
[[nodiscard]] MeasureRule calibrate_measures(const CaseSource& cases, const MeasureOptions& options,
                                             Progress& progress = silent());

/// The measurements of every class of the rule in every group, by ascending id of the group. Throws a data
/// error if the number of classes differs.
[[nodiscard]] std::vector<Measurement> measure(const MeasureRule& rule, const CaseSource& cases,
                                               Progress& progress = silent());

/// The guarantee in one sentence: what holds for the intervals of a new group.
[[nodiscard]] std::string guarantee(const MeasureRule& rule);
/// "pixels", "mm^2", "voxels" or "mm^3".
[[nodiscard]] std::string size_unit(const MeasureRule& rule);

/// The rule as JSON.
[[nodiscard]] std::string to_json(const MeasureRule& rule);
/// The rule of a JSON text. Throws a data error, which begins with `name`, for other texts.
[[nodiscard]] MeasureRule measure_rule(const std::string& json, const std::string& name);

}  // namespace kandinsky
