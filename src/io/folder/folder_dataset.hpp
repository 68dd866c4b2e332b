#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <nlohmann/json.hpp>

#include "io/folder/folder.hpp"
#include "io/folder/pairing.hpp"
#include "io/image/grid_fit.hpp"
#include "io/source/source.hpp"

namespace kandinsky {

/// The meaning of the pixels that a grid larger than the image adds.
enum class Padding {
    ignore,      ///< nothing is known about them: they take no part
    background,  ///< class 0, for certain
};

struct Team;

/// How folders become one data set. A calibrator records axis, grid and the like, for prediction.
struct FolderOptions {
    Axis axis = Axis::axial;
    bool reorient = true;
    bool class_files = false;     ///< one file for each class
    bool only_annotated = false;  ///< only slices that hold a label other than 0
    GridFit fit;
    Padding padding = Padding::ignore;
    bool skip_bad = false;
    std::string group_by;  ///< regular expression: what it captures of a name is the group
    Logits logits = Logits::none;
    std::vector<std::int64_t> ignore{255};
    CocoLabels coco;  ///< how labels are read from a COCO annotations file
};

/// The options that predict must repeat, as JSON, and back. Throws Error of kind `data` for other JSON.
[[nodiscard]] nlohmann::ordered_json preparation_json(const FolderOptions& options);
void apply_preparation(const nlohmann::ordered_json& json, FolderOptions& options);

/// The label that marks unlabelled voxels according to the dataset.json in `folder` or above it: nnU-Net v2
/// names it "ignore" and gives it the highest number. Nothing when there is no such file or entry. Throws
/// Error of kind `data` when the file is there but cannot be understood.
[[nodiscard]] std::optional<std::int64_t> ignore_label(const std::filesystem::path& folder);

/// Opens a folder, or one file of such. `geometry`: the labels' folder, for formats that have none; or empty.
[[nodiscard]] std::unique_ptr<ImageSource> open_images(const std::filesystem::path& path, Role role,
                                                       const FolderOptions& options,
                                                       const std::filesystem::path& geometry = {});

/// One image of the arrays: which item it comes from.
struct ImageOrigin {
    std::string name;
    std::size_t slice = 0;
};

struct FolderData {
    Array probs;                        ///< float32 [N,C,H,W]; empty without probabilities
    Array labels;                       ///< [N,H,W] or [N,C,H,W]; empty without labels
    Array groups;                       ///< int64 [N]; empty where every image stands alone
    std::vector<ImageOrigin> origins;   ///< [N]
    std::vector<std::uint32_t> usable;  ///< rows of the arrays that were read well
    bool rank_part = false;             ///< the usable rows are those of one rank among several
    std::vector<std::int64_t> ignore;   ///< the labels to ignore, padding's included
    std::size_t cases = 0;
    std::vector<BadFile> skipped;
    std::vector<std::string> remarks;
    nlohmann::ordered_json provenance;
};

/// Decodes every item once, in parallel, brings it onto the common grid and collects all in temporary files:
/// memory holds a few items at a time. Items are taken in the order of their names, slices in ascending
/// order. Bad files are listed in one data error, or left out (`skip_bad`). Either source may be null.
[[nodiscard]] FolderData read_images(const ImageSource* probs, const ImageSource* labels,
                                     const FolderOptions& options, Progress& progress = silent());

/// read_images() for several ranks. Each rank decodes the files of its share of the cases, whole groups. The
/// rows of other ranks, and of slices without annotation if only annotated ones are taken, are holes. The
/// network volume does not depend on the number of files. With `skip_bad`, or with groups from elsewhere,
/// every rank reads everything and the images are not divided yet.
[[nodiscard]] FolderData read_rank_part(const ImageSource* probs, const ImageSource* labels,
                                        const FolderOptions& options, const Team& team, bool groups_given,
                                        Progress& progress);

/// The probabilities of one item, slice by slice, on the common grid.
class SliceReader {
  public:
    /// `values`: as ImageSource::read gives them. `options.fit` has a grid.
    SliceReader(const ItemInfo& info, Array values, const FolderOptions& options);
    /// [planes][grid]. `certain_background` counts pixels whose class 0 has probability 1 exactly.
    void read(std::size_t slice, float* out, std::size_t* certain_background = nullptr) const;
    /// The slices as they are, on the item's own grid.
    [[nodiscard]] const Dataset& data() const { return data_; }

  private:
    Dataset data_;
    ItemInfo info_;
    GridFit fit_;
};

}  // namespace kandinsky
