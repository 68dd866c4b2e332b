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
    ignore,      ///< ignored pixels
    background,  ///< class 0 with probability 1
};

struct Team;

/// How folders become one data set. A calibrator stores axis, grid and similar options for prediction.
struct FolderOptions {
    Axis axis = Axis::axial;
    bool reorient = true;
    bool class_files = false;     ///< one file for each class
    bool only_annotated = false;  ///< only slices that have a class other than 0
    GridFit fit;
    Padding padding = Padding::ignore;
    BadFiles bad_files = BadFiles::refuse;
    std::string group_by;  ///< regular expression; the part of a name that it captures is the group
    Logits logits = Logits::none;
    std::vector<std::int64_t> ignore{255};
    CocoLabels coco;  ///< how labels are read from a COCO annotations file
};

/// Writes as JSON the options that prediction must use too, and reads them. Reading throws Error of kind
/// `data` for other JSON.
[[nodiscard]] nlohmann::ordered_json preparation_json(const FolderOptions& options);
void apply_preparation(const nlohmann::ordered_json& json, FolderOptions& options);

/// The label that marks unlabelled voxels according to the dataset.json in `folder` or its parent: nnU-Net v2
/// names it "ignore" and gives it the highest number. Returns nothing if there is no such file or entry.
/// Throws Error of kind `data` if the file is not valid JSON or the label is not a number.
[[nodiscard]] std::optional<std::int64_t> ignore_label(const std::filesystem::path& folder);

/// Opens a folder, one file or, for labels, a COCO annotations file. `geometry`: the labels' folder, which
/// has the geometry for formats that store none; may be empty.
[[nodiscard]] std::unique_ptr<ImageSource> open_images(const std::filesystem::path& path, Role role,
                                                       const FolderOptions& options,
                                                       const std::filesystem::path& geometry = {});

/// The source of one image of the arrays.
struct ImageOrigin {
    std::string name;
    std::size_t slice = 0;
    std::size_t number = 0;  ///< of its file in the order of names; files that fail to decode count too
};

struct FolderData {
    Array probs;                        ///< float32 [N,C,H,W]; empty without probabilities
    Array labels;                       ///< [N,H,W] or [N,C,H,W]; empty without labels
    Array groups;                       ///< int64 [N]; empty if every image is a group
    std::vector<ImageOrigin> origins;   ///< [N]
    std::vector<std::uint32_t> usable;  ///< rows of the arrays that were read successfully
    bool rank_part = false;             ///< the usable rows are those of one rank among several
    std::vector<std::int64_t> ignore;   ///< the labels to ignore, including that of padding
    std::size_t cases = 0;
    std::vector<BadFile> skipped;
    std::vector<std::string> remarks;
    nlohmann::ordered_json provenance;
};

/// Decodes items in parallel and writes them on the common grid into temporary files. Labels are decoded
/// twice. Memory holds only a few items at a time. Items are taken in the order of their names, slices in
/// ascending order. Bad files are listed in one data error, or left out (`bad_files`). Either source may be
/// null.
[[nodiscard]] FolderData read_images(const ImageSource* probs, const ImageSource* labels,
                                     const FolderOptions& asked, Progress& progress = silent());

/// read_images() for several ranks. Each rank decodes the files of its share of the cases, in whole groups.
/// Every slice has a row. It stays empty if the slice is of another rank or is not used (only_annotated).
/// The ranks send only a few numbers to each other, however many files there are. If bad files are skipped,
/// or if groups come from another file, every rank reads all files, and the caller must divide the images.
[[nodiscard]] FolderData read_rank_part(const ImageSource* probs, const ImageSource* labels,
                                        const FolderOptions& asked, const Team& team, bool groups_given,
                                        Progress& progress);

/// The probabilities of one item, slice by slice, on the common grid.
class SliceReader {
  public:
    /// `values`: from ImageSource::read(). `options.fit` must have a grid.
    SliceReader(const ItemInfo& info, Array values, const FolderOptions& options);
    /// [planes][grid]. Adds to `certain_background` the number of the item's own pixels whose class 0 has
    /// probability 1 exactly.
    void read(std::size_t slice, float* out, std::size_t* certain_background = nullptr) const;
    /// The slices on the item's own grid, without resampling.
    [[nodiscard]] const Dataset& data() const { return data_; }

  private:
    Dataset data_;
    ItemInfo info_;
    GridFit fit_;
};

}  // namespace kandinsky
