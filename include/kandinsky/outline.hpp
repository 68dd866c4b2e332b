#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/cases.hpp>
#include <kandinsky/export.hpp>
#include <span>

namespace KANDINSKY_API kandinsky {

/// The score of a voxel for a class's object; smaller means more likely inside. docs/questions.md has the
/// formulas.
struct OutlineScore {
    /// The quantity that the score is based on.
    enum class Kind {
        distance,     ///< signed distance to the predicted mask plus `weight` (1 - p), in pixels
        relative,     ///< the same divided by the radius of the predicted mask
        probability,  ///< 1 - p
        field,        ///< 1 - the p-value of a calibrator
        doubt,        ///< mean distance to several masks plus `weight` (1 - p), scaled by the model's doubt
    };
    Kind kind = Kind::distance;  ///< the quantity
    double weight = 0;           ///< of 1 - p in distance, relative and doubt

    friend bool operator==(const OutlineScore&, const OutlineScore&) = default;
};

[[nodiscard]] std::string name_of(const OutlineScore& score);  ///< "distance", "relative:10"
/// The inverse of name_of(); throws a usage error for other words.
[[nodiscard]] OutlineScore outline_score(const std::string& name);

/// Which masks are made.
enum class OutlineSides {
    both,   ///< an inner and an outer mask, guaranteed together
    outer,  ///< the outer mask alone, which is then smaller
    inner,  ///< the inner mask alone, which is then larger
};

/// The unit of the guarantee.
enum class OutlineUnit {
    group,   ///< all pixels of the class in a group are one object, and masks hold or fail for the group
    object,  ///< each connected component is an object, and alpha bounds the mean share that is missed
};

/// Which voxels of a class belong to one object.
enum class Connectivity {
    corners,  ///< those that touch at a corner: 8 neighbours, 26 in volumes
    faces,    ///< those that share a side: 4 neighbours, 6 in volumes
};

/// The options of calibrate_outlines().
struct OutlineOptions {
    double alpha = 0.1;  ///< share of groups whose masks may fail, or of a group's objects that may be missed
    /// 0: alpha holds on average over draws of the calibration groups; else in at least this share of the
    /// draws. Must be 0 with OutlineUnit::object.
    double confidence = 0;
    /// The outer mask contains at least this share of the object (all pixels of the class in a group). The
    /// inner mask exceeds the object by at most (1 - share) times the object's size. With
    /// OutlineUnit::object, an object is missed unless the outer mask contains at least this share of it (at
    /// least one voxel if share is 0).
    double share = 1;
    OutlineUnit per = OutlineUnit::group;               ///< OutlineUnit::object needs OutlineSides::outer
    Connectivity connectivity = Connectivity::corners;  ///< of objects
    OutlineSides sides = OutlineSides::both;            ///< which masks
    /// The candidates. The best is chosen, or the first if there are too few groups to choose. Empty: all
    /// scores that are possible, and `relative` if there are too few groups.
    std::vector<OutlineScore> scores{};
    bool hard = false;                     ///< the model gives masks, so all probabilities are 0 or 1
    std::vector<std::uint32_t> classes{};  ///< classes to outline; empty: all except 0
    std::uint64_t seed = 0;                ///< of the draw of the groups that choose a score
    std::shared_ptr<const Calibrator> calibrator{};  ///< for score field; made from other groups
};

/// A score, and the threshold at which its mask ends.
struct OutlineLevel {
    OutlineScore score;    ///< how voxels are ordered
    double threshold = 0;  ///< outer: scores up to it are in the mask; inner: scores from it on are not
};

/// The masks of one class.
struct ClassOutline {
    std::uint32_t number = 0;     ///< of the class
    std::size_t groups = 0;       ///< calibration groups that have the class
    std::size_t without = 0;      ///< calibration groups without the class
    std::size_t false_inner = 0;  ///< groups without the class that get an inner mask
    std::size_t objects = 0;      ///< objects of the calibration groups; 0 unless objects are the unit
    std::size_t choosers = 0;     ///< calibration groups that chose the scores; the others set the thresholds
    OutlineLevel outer;           ///< of the outer mask, where there is one
    OutlineLevel inner;           ///< of the inner mask, where there is one
    double object_share = 0;      ///< share of the voxels in the object; mean over groups that have the class
    double outer_share = 0;       ///< the same for the outer mask, from samples of the voxels
    double inner_share = 0;       ///< the same for the inner mask
};

/// The calibrated rule that turns predictions into outlines.
struct OutlineRule {
    double alpha = 0.1;                                 ///< as in OutlineOptions
    double confidence = 0;                              ///< as in OutlineOptions
    double share = 1;                                   ///< as in OutlineOptions
    OutlineUnit per = OutlineUnit::group;               ///< as in OutlineOptions
    Connectivity connectivity = Connectivity::corners;  ///< as in OutlineOptions
    OutlineSides sides = OutlineSides::both;            ///< as in OutlineOptions
    bool hard = false;                                  ///< as in OutlineOptions
    LengthUnit unit = LengthUnit::pixel;                ///< of distances
    bool volumes = false;                               ///< distances are in three dimensions
    std::size_t class_count = 0;                        ///< of the predictions
    std::size_t groups = 0;                             ///< calibration groups
    bool grouped = false;                               ///< a group is more than an image or a volume
    std::vector<ClassOutline> classes;                  ///< those that are outlined
};

/// Calibrates thresholds on labelled cases. Groups are read in parallel; each thread holds one group at a
/// time. Throws a usage error for options out of range or cases without labels.
[[nodiscard]] OutlineRule calibrate_outlines(const CaseSource& cases, const OutlineOptions& options,
                                             Progress& progress = silent());

/// The codes of the voxels of an outline.
inline constexpr std::uint8_t kOutside = 0;  ///< outside the outer mask
inline constexpr std::uint8_t kBetween = 1;  ///< in the outer mask, not in the inner one
inline constexpr std::uint8_t kInside = 2;   ///< in the inner mask, which is part of the outer one

/// The outlines of one case, [class of the rule][voxel]. The truth of the case is not used. If the rule has
/// no outer mask, all voxels count as inside it. The score field needs the `calibrator` with which the rule
/// was calibrated. Throws a usage error without it, and a data error if the number of classes differs.
[[nodiscard]] std::vector<std::uint8_t> outline_case(const OutlineRule& rule, const Case& one,
                                                     const Calibrator* calibrator = nullptr);

/// How outer masks cover true objects of one size class.
struct ObjectCounts {
    double largest = 0;  ///< upper end of the sizes, in the rule's pixels, voxels, mm^2 or mm^3
    /// Connected components of the truth up to this size and above the next smaller `largest`.
    std::size_t objects = 0;
    std::size_t touched = 0;  ///< objects with a voxel in the outer mask
    std::size_t covered = 0;  ///< objects of which the outer mask contains the rule's share
};

/// How often the outlines of labelled cases were as guaranteed.
struct OutlineJudgement {
    std::size_t groups = 0;       ///< groups that have the class
    std::size_t held = 0;         ///< groups whose masks hold (with OutlineUnit::object: for all objects)
    double found = 0;             ///< share of a group's objects that the outer mask covers, mean over groups
    double object_share = 0;      ///< share of the voxels in the object, mean over these groups
    double outer_share = 0;       ///< the same for the outer mask
    double inner_share = 0;       ///< the same for the inner mask
    std::size_t without = 0;      ///< groups without the class
    std::size_t false_inner = 0;  ///< groups without the class that get an inner mask
    std::vector<ObjectCounts> objects;  ///< by size, ascending; sizes that no object has are left out
};
/// One result for each class of the rule. Objects are counted by size: up to `small` and above it, or by
/// powers of ten if `small` is 0. Throws as outline_case(), and a usage error for cases without labels and
/// for a `small` that is negative or not finite.
[[nodiscard]] std::vector<OutlineJudgement> judge_outlines(const OutlineRule& rule, const CaseSource& cases,
                                                           const Calibrator* calibrator = nullptr,
                                                           double small = 0, Progress& progress = silent());

/// The guarantee in one sentence: what holds for the masks of a new group.
[[nodiscard]] std::string guarantee(const OutlineRule& rule);
/// The unit of the objects' sizes: "pixels", "mm^2", "voxels" or "mm^3".
[[nodiscard]] std::string size_unit(const OutlineRule& rule);

/// The rule as JSON.
[[nodiscard]] std::string to_json(const OutlineRule& rule);
/// What judge_outlines() found, as a JSON array; an infinite size is null.
[[nodiscard]] std::string to_json(const OutlineRule& rule, std::span<const OutlineJudgement> found);
/// The rule of a JSON text. Throws a data error, which begins with `name`, for other texts.
[[nodiscard]] OutlineRule outline_rule(const std::string& json, const std::string& name);

}  // namespace kandinsky
