#pragma once

#include <kandinsky/array.hpp>
#include <kandinsky/grid.hpp>

namespace kandinsky {

/// How intensities are scaled for a network.
enum class Intensity {
    none,  ///< unchanged
    byte,  ///< divided by 255
    /// Clipped to the 0.5 and 99.5 percentiles of the group's values other than 0 (padding), then scaled to
    /// [0, 1]; for scans.
    percentile,
};
[[nodiscard]] Intensity intensity_of(std::string_view name);

/// Views of images for training or evaluation: pixels [N,H,W] or [N,K,H,W] of any type, labels [N,H,W]
/// (optional), and groups [N] (optional), the scan of each slice.
class Samples {
  public:
    Samples(Array pixels, Array labels, Array groups, Intensity intensity, std::vector<std::int64_t> ignore,
            std::string pixels_name = "images", std::string labels_name = "labels");

    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::size_t channels() const { return channels_; }
    [[nodiscard]] Grid grid() const { return grid_; }
    [[nodiscard]] bool labelled() const { return !labels_.empty(); }
    [[nodiscard]] std::int64_t group(std::size_t sample) const;
    /// The largest label that is not ignored, plus one; 0 if all are ignored. Needs labels and reads all of
    /// them; throws a data error for labels outside 0 to 65535.
    [[nodiscard]] std::size_t classes() const;

    /// One image as float32 [channels][H][W] with scaled intensities. Throws a data error that names image,
    /// channel, row and column for NaN and infinite values.
    void read_pixels(std::size_t sample, float* out) const;
    /// Writes targets [outputs][H][W] and valid [H][W], 0 and 1. Needs labels. A single output means every
    /// class except 0. Throws a data error for a label without an output.
    void read_targets(std::size_t sample, std::size_t outputs, std::uint8_t* targets,
                      std::uint8_t* valid) const;

  private:
    void find_scales();

    Array pixels_, labels_;
    std::vector<std::int64_t> groups_;
    Intensity intensity_;
    std::vector<std::int64_t> ignore_;
    std::string pixels_name_, labels_name_;
    std::size_t count_ = 0, channels_ = 1;
    Grid grid_;
    std::vector<float> low_, scale_;  ///< per sample, for percentile
};

}  // namespace kandinsky
