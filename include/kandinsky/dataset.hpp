#pragma once

#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/grid.hpp>
#include <span>

namespace KANDINSKY_API kandinsky {

/// How model outputs become probabilities. The caller states it; it is not detected.
enum class Logits {
    none,     ///< they are probabilities
    sigmoid,  ///< each class separately
    softmax,  ///< over the classes of a pixel
};

/// How arrays are read, and what messages call them.
struct DatasetOptions {
    std::vector<std::int64_t> ignore{255};     ///< labels that belong to no class
    Logits logits = Logits::none;              ///< how outputs become probabilities
    std::string probs_name = "probabilities";  ///< used in messages, usually the file's name
    std::string labels_name = "labels";        ///< the same for labels
    std::string groups_name = "groups";        ///< the same for groups
    std::size_t first_image = 0;               ///< number of the first image in messages, for batches
};

/// The truth of one image.
struct Truth {
    std::vector<std::uint8_t> member;  ///< [C][H][W] 1 where the pixel has that class
    std::vector<std::uint8_t> valid;   ///< [H][W] 0 where the label is ignored
};

/// N images on one grid. Probabilities are [N,C,H,W], floating-point numbers or uint8 (255 p). C = 1 is the
/// foreground only, and makes two classes with the probabilities 1 - p and p. The truth is integer labels
/// [N,H,W], or 0/1 masks [N,C,H,W] if classes may overlap; prediction needs no truth. Integer groups [N] say
/// which images belong together (a patient, a video). Copies share the arrays. Construction checks shapes and
/// types and throws a data or usage error; values are checked when they are read.
class Dataset {
  public:
    /// With truth, and with groups or without.
    Dataset(Array probs, Array labels, Array groups = {}, DatasetOptions options = {});
    /// Without truth, for prediction.
    explicit Dataset(Array probs, DatasetOptions options = {});

    [[nodiscard]] std::size_t images() const { return rows_.size(); }         ///< N
    [[nodiscard]] std::size_t classes() const { return classes_; }            ///< C, 2 for foreground only
    [[nodiscard]] Grid grid() const { return grid_; }                         ///< H and W
    [[nodiscard]] bool labelled() const { return !labels_.empty(); }          ///< there is truth
    [[nodiscard]] bool overlapping() const { return overlapping_; }           ///< the truth is masks
    [[nodiscard]] bool grouped() const { return !groups_.empty(); }           ///< groups were given
    [[nodiscard]] const DatasetOptions& options() const { return options_; }  ///< as given
    [[nodiscard]] DType probs_dtype() const { return probs_.dtype(); }        ///< as stored

    /// Number of groups. They are numbered from 0 in ascending order of their id; without groups, each image
    /// is a group.
    [[nodiscard]] std::size_t groups() const { return group_count_; }
    /// The number of an image's group.
    [[nodiscard]] std::uint32_t group_of(std::size_t image) const { return group_index_[image]; }
    [[nodiscard]] std::int64_t group_id(
        std::size_t image) const;  ///< as given; the row number without groups

    /// The listed images, by their numbers in this data set. Shares the arrays. Throws std::out_of_range
    /// unless all numbers are below images().
    [[nodiscard]] Dataset subset(const std::vector<std::uint32_t>& images) const;

    /// Writes one image's probabilities as float32 [C][range], -0 as 0. Throws a data error that names image,
    /// class, row, column and value if a probability is NaN or outside [0,1] or a logit is NaN (for softmax
    /// also if it is infinite), and a usage error if `out` is too short. No allocation; thread-safe.
    void read_probs(std::size_t image, PixelRange range, std::span<float> out) const;
    /// All probabilities of one image, [C][H][W], as read_probs() gives them.
    [[nodiscard]] std::vector<float> probs(std::size_t image) const;
    /// Writes the truth of one image: member [C][range] is 1 where the pixel has that class, valid [range] is
    /// 0 where the label is ignored. Throws a data error that names the place if a label is out of range or a
    /// mask is neither 0 nor 1, and a usage error if there is no truth or an array is too short. No
    /// allocation; thread-safe.
    void read_truth(std::size_t image, PixelRange range, std::span<std::uint8_t> member,
                    std::span<std::uint8_t> valid) const;
    /// All truth of one image, as read_truth() gives it.
    [[nodiscard]] Truth truth(std::size_t image) const;

    /// A hint for passes over large files: frees the memory of the pages of images [first, last), which are
    /// read again when needed. Thread-safe. Has no effect on arrays in memory.
    void release(std::size_t first, std::size_t last) const;
    /// The opposite hint: starts to read images [first, last) in the background.
    void prefetch(std::size_t first, std::size_t last) const;

  private:
    friend struct DatasetAccess;
    struct Shared;

    void check_shapes();
    void number_groups();
    /// Writes a run of labels as 0/1 planes, `plane` bytes apart.
    void split_byte_labels(std::size_t image, PixelRange part, const std::uint8_t* labels,
                           std::uint8_t* member, std::size_t plane, std::uint8_t* valid) const;
    void split_labels(std::size_t image, PixelRange part, const std::byte* labels, std::ptrdiff_t step,
                      std::uint8_t* member, std::size_t plane, std::uint8_t* valid) const;
    [[noreturn]] void refuse_probability(std::size_t image, std::size_t plane, std::size_t pixel,
                                         double value) const;
    [[noreturn]] void refuse_label(std::size_t image, std::size_t plane, std::size_t pixel,
                                   std::int64_t value) const;

    Array probs_, labels_, groups_;
    DatasetOptions options_;
    Grid grid_;
    std::size_t planes_ = 0;   ///< C as stored
    std::size_t classes_ = 0;  ///< C as seen: 2 when one plane is stored
    bool overlapping_ = false;
    std::vector<std::uint32_t> rows_;  ///< image number -> row of the arrays
    std::vector<std::uint32_t> group_index_;
    std::vector<std::int64_t> group_ids_;
    std::size_t group_count_ = 0;
    std::shared_ptr<const Shared> shared_;  ///< caches by row, and the ranks
};

}  // namespace kandinsky
