#pragma once

#include <kandinsky/outline.hpp>

#include "outline/nested.hpp"

namespace kandinsky::outline {

/// A sample of the scores of a group's voxels, which gives the size of a mask at any threshold.
class Profile {
  public:
    Profile() = default;
    explicit Profile(std::vector<float> scores);  ///< scores of all voxels except ignored ones
    /// A hash of the values.
    [[nodiscard]] std::uint64_t key() const;
    /// Share of the voxels whose score is at most `threshold`.
    [[nodiscard]] double up_to(double threshold) const;
    /// Share of the voxels whose score is at least `threshold`.
    [[nodiscard]] double from(double threshold) const;

  private:
    /// Values at the ranks (i / n)^2, which are dense at low scores, where the object lies.
    std::vector<float> values_;
};

/// The data of one group and one class that calibration needs. Masks may miss as many voxels as `share`
/// allows.
struct GroupRecord {
    double object_share = 0;  ///< share of the voxels, without ignored ones, that have the class
    bool has = false;         ///< some voxel has the class
    /// [score][object] the smallest threshold whose outer mask contains the object; one object per group
    /// unless objects are the unit.
    std::vector<std::vector<double>> outer;
    std::vector<double> inner;      ///< [score] the largest threshold whose inner mask lies in the object
    std::vector<Profile> profiles;  ///< [score]
};

/// [class of `classes`][group], groups in ascending order of their ids. Share, unit, connectivity and
/// calibrator are those of `options`.
[[nodiscard]] std::vector<std::vector<GroupRecord>> collect_records(const CaseSource& cases,
                                                                    const std::vector<std::uint32_t>& classes,
                                                                    const std::vector<OutlineScore>& scores,
                                                                    const OutlineOptions& options,
                                                                    Progress& progress);

/// The outline of one class from the records of its groups. scores[plain] is used unless another score gives
/// clearly smaller masks; with too few groups to choose, it is always used.
[[nodiscard]] ClassOutline outline_of(const std::vector<const GroupRecord*>& groups,
                                      const std::vector<OutlineScore>& scores, std::size_t plain,
                                      const Assurance& wanted, OutlineSides sides, std::uint64_t seed);

/// The number of voxels that may be missed: floor((1 - share) object), with a tolerance for the rounding of
/// the share.
[[nodiscard]] std::size_t allowed_misses(double share, std::size_t object);

/// The candidate scores: the given scores, or all that are possible with the options. Throws a usage error
/// for an impossible score.
[[nodiscard]] std::vector<OutlineScore> candidates(const OutlineOptions& options);
/// The index in candidates() of the score that the others must beat: the first of the caller's scores, or
/// `relative`.
[[nodiscard]] std::size_t plain_candidate(const OutlineOptions& options);

}  // namespace kandinsky::outline
