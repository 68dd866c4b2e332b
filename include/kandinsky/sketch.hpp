#pragma once

#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <set>

namespace KANDINSKY_API kandinsky {

/// Calibration in one pass, for images that can be read only once. Counts the scores of every pixel in bins
/// of equal width, so the memory depends on the grid and the bins, not on the number of images. A threshold
/// is never below the exact threshold and exceeds it by at most error(). Batches, their order and threads
/// have no effect.
class Sketch {
  public:
    /// `options.sketch`: the largest error. Throws a usage error for options that are out of range or need
    /// more than one pass, and if the bins do not fit into `options.memory`.
    Sketch(Grid grid, std::size_t classes, const CalibrateOptions& options);

    /// Counts some images, which are not needed afterwards. Not thread-safe; runs in parallel itself. Throws
    /// a data error for bad values or another grid or number of classes, and a usage error for images without
    /// labels or groups that do not fit the options; nothing is counted then. If it throws later, because
    /// `progress` stops it or a file changes, the sketch holds only a part of the images, and add() and
    /// finish() throw a usage error.
    void add(const Dataset& images, Progress& progress = silent());
    /// The calibrator of all images so far. Throws a data error if no pixel has a label.
    [[nodiscard]] Calibrator finish(Progress& progress = silent()) const;

    [[nodiscard]] std::uint64_t images() const { return images_; }    ///< counted so far
    [[nodiscard]] std::size_t bins() const { return edges_.size(); }  ///< of each pixel and stratum
    [[nodiscard]] double error() const { return error_; }             ///< largest error of a threshold

  private:
    class Curves;
    [[nodiscard]] std::uint32_t bin_of(float score) const;
    void count(const Dataset& images, Progress& progress);
    void refuse_part() const;

    Grid grid_;
    std::size_t classes_, strata_;
    CalibrateOptions options_;
    float low_ = 0;
    double width_ = 0, error_ = 0;
    std::vector<float> edges_;           ///< upper ends of the bins
    std::vector<std::uint32_t> counts_;  ///< [stratum][pixel][bin]
    std::vector<std::uint32_t> totals_;  ///< [stratum][pixel]
    std::uint64_t images_ = 0;
    bool grouped_ = false, masks_ = false, classless_ = false;
    bool part_ = false;  ///< it holds a part of the images of a call of add()
    std::set<std::int64_t> group_ids_;
    std::array<std::uint64_t, 2> fingerprint_{};
};

}  // namespace kandinsky
