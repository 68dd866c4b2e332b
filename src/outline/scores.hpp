#pragma once

#include <kandinsky/outline.hpp>

namespace kandinsky::outline {

/// The predicted mask of a class: the voxels where it is the most probable class; ties go to the lowest
/// number.
[[nodiscard]] std::vector<std::uint8_t> predicted_mask(const Case& one, std::size_t cls);

/// The scores of one class in one case.
class ClassScores {
  public:
    /// `field`: [class][voxel] p-values for the score `field`; may be null for other scores. `one` and
    /// `field` must outlive the object.
    ClassScores(const Case& one, std::size_t cls, const std::vector<float>* field);
    /// Writes the score of every voxel to `out`; never NaN.
    void make(const OutlineScore& score, float* out) const;

  private:
    void mean_distances(float* out) const;

    const Case& case_;
    const float* probs_;
    const float* field_ = nullptr;
    std::vector<std::uint8_t> mask_;  ///< the predicted mask
    std::vector<float> distance_;
    double pixel_ = 1;   ///< side of a pixel within a slice
    double radius_ = 1;  ///< of a disc or ball as large as the predicted mask
};

/// The p-values of a case, [class][voxel]. Throws a data error if the case does not fit the calibrator.
[[nodiscard]] std::vector<float> field_values(const Calibrator& calibrator, const Case& one);

}  // namespace kandinsky::outline
