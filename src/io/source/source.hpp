#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <kandinsky/array.hpp>
#include <kandinsky/grid.hpp>
#include <optional>

namespace kandinsky {

/// Folders of files, as segmentation tools write them. A format decodes its files into items. The parts that
/// all formats share (pairing by name, the common grid, groups, lists of bad files) are in io/folder.

/// The purpose of reading a folder.
enum class Role {
    probabilities,
    labels,
    images,  ///< the input of a network: any values, planes are channels
};

/// Slices of a volume have a constant z (axial), y (coronal) or x (sagittal) of the canonical (RAS+) axes.
enum class Axis { axial, coronal, sagittal };

/// The properties of an item that are known before its pixels are decoded.
struct ItemInfo {
    std::string name;        ///< pairs probabilities with labels: usually the file's name without its ending
    std::string path;        ///< used in messages
    std::size_t slices = 1;  ///< number of images
    std::size_t planes = 0;  ///< number of classes; 0 without a class axis, as in labels
    std::size_t height = 0, width = 0;
    bool volume = false;  ///< its slices belong together, so the item is one group
    /// Millimetres between slices, rows and columns; 0 if unknown.
    std::array<double, 3> spacing{0, 0, 0};
    std::string problem;  ///< why it cannot be used, in a few words; empty if it can

    [[nodiscard]] Grid grid() const {
        return {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width)};
    }
};

/// How predict codes the sets of an item.
enum class SetCoding {
    planes,  ///< one 0/1 plane for each class
    bits,    ///< one plane; bit c is set where class c is in the set
    masks,   ///< volumes: two label maps for viewers, of certain and possible classes (mask_files.hpp)
};

/// The prediction sets of one item on its own grid: 0/1, [slices][classes][height][width]. Planes may also be
/// label maps or p-values, which are written unchanged.
struct ItemSets {
    std::string name;  ///< of the file to write, without ending
    const std::uint8_t* values = nullptr;
    std::size_t classes = 0;
    SetCoding coding = SetCoding::planes;
    std::string note{};          ///< stored in the file if the format has room for text
    DType dtype = DType::uint8;  ///< of the planes; `values` are its bytes
};

/// The items of one folder (or file), in ascending order of the files' names.
class ImageSource {
  public:
    virtual ~ImageSource() = default;

    [[nodiscard]] virtual std::string_view format() const = 0;  ///< "NIfTI", "PNG": used in messages
    [[nodiscard]] const std::vector<ItemInfo>& items() const { return items_; }
    /// Whether the labels list a whole collection (COCO), so that items without probabilities are not an
    /// error.
    [[nodiscard]] virtual bool catalogue() const { return false; }

    /// Decodes an item into [slices, planes, H, W], or [slices, H, W] when it has no planes, with the extents
    /// of its info; any strides. Probabilities: float16/32/64, or uint8 holding p * 255. Labels: integers, or
    /// floating-point values that are whole numbers. Masks that may overlap: integers 0 and 1 with planes.
    /// Safe from several threads. Throws Error of kind `data` or `file` that names the item's path.
    [[nodiscard]] virtual Array read(std::size_t item) const = 0;

    /// Writes the prediction sets of an item into `folder`, in the usual form of this format. The base class
    /// writes NAME.npy: [C,H,W] of type `sets.dtype`, or [slices,C,H,W] for a volume. Bits have no axis C and
    /// the type bits_dtype().
    virtual void write_sets(std::size_t item, const ItemSets& sets,
                            const std::filesystem::path& folder) const;

  protected:
    std::vector<ItemInfo> items_;
};

/// How the voxel axes of a stored volume become canonical axes (x to the right, y to the front, z up).
/// Canonical axis a is stored axis `stored[a]`, reversed if `flipped[a]`.
struct Orientation {
    std::array<std::uint8_t, 3> stored{0, 1, 2};
    std::array<bool, 3> flipped{false, false, false};
};

/// The geometry of an item whose format stores none (nnU-Net's .npz), taken from another file.
struct GeometryReference {
    std::filesystem::path path;
    Orientation orientation;
    std::array<std::size_t, 3> extent{};  ///< stored x, y, z
    std::array<double, 3> step{};         ///< millimetres between voxels, stored x, y, z; 0: unknown
};

struct SourceOptions {
    Role role = Role::probabilities;
    Axis axis = Axis::axial;
    bool reorient = true;  ///< turns volumes to canonical axes; false keeps the stored axes
    /// Returns the geometry of the item with this name from another file, or nothing if there is none.
    std::function<std::optional<GeometryReference>(const std::string& name)> reference;
};

/// A kind of file that a folder may hold.
struct FolderFormat {
    std::string_view name;                  ///< "NIfTI"
    std::vector<std::string_view> endings;  ///< lower case, with the dot; longer ones first
    /// Reads every file's header. A file that cannot be used becomes an item with a `problem`. In a build
    /// without the format's library, the stub throws Error of kind `usage` that names the package.
    std::unique_ptr<ImageSource> (*open)(const std::vector<std::filesystem::path>& files,
                                         const SourceOptions& options);
};

/// A function for FolderFormat::open that constructs a Source.
template <class Source>
[[nodiscard]] std::unique_ptr<ImageSource> open_source(const std::vector<std::filesystem::path>& files,
                                                       const SourceOptions& options) {
    return std::make_unique<Source>(files, options);
}

/// The last ending of a file's name, with the dot, in lower case.
[[nodiscard]] std::string lower_ending(const std::filesystem::path& file);
/// The file's name without the format's ending; the whole name if it has none of the endings.
[[nodiscard]] std::string item_name(const std::filesystem::path& file, const FolderFormat& format);

/// One info per file, computed in parallel: name, path and the fields that `look(i, info)` sets. If look()
/// throws Error of kind `data` or `file`, its text becomes the item's problem; other errors are thrown.
[[nodiscard]] std::vector<ItemInfo> describe_files(const std::vector<std::filesystem::path>& files,
                                                   const FolderFormat& format,
                                                   const std::function<void(std::size_t, ItemInfo&)>& look);

/// The text of an error about a file, with the file's name removed, for ItemInfo::problem.
[[nodiscard]] std::string problem_text(const std::string& message, const std::string& path);

/// Returns the result of ImageSource::read(); throws a data error if its extents differ from the item's,
/// because the file has changed.
Array check_extents(const ItemInfo& info, Array values);

/// The narrowest type with a bit for each class: uint8, uint16, uint32. More than 32 are a usage error.
[[nodiscard]] DType bits_dtype(std::size_t classes);

/// The canonical axes (0: x, left to right; 1: y, back to front; 2: z, up) of slices, rows and columns: axial
/// z, y, x; coronal y, z, x; sagittal x, z, y. Rows and columns ascend along their axis.
struct SliceAxes {
    std::uint8_t slice = 2, row = 1, column = 0;
};
[[nodiscard]] SliceAxes slice_axes(Axis axis);
[[nodiscard]] Axis axis_of(const std::string& name);  ///< "axial", ...; throws Error of kind `usage`
[[nodiscard]] std::string_view name_of(Axis axis);

/// A view of a stored volume [x, y, z] or [x, y, z, class] as images [slice, row, column] or
/// [slice, class, row, column]. Nothing is copied.
[[nodiscard]] ArrayView as_slices(const ArrayView& stored, const Orientation& orientation, Axis axis);

/// The inverse: a view of images [slice, class, row, column] as a stored volume [class, z, y, x].
[[nodiscard]] ArrayView as_stored(const ArrayView& slices, const Orientation& orientation, Axis axis);

}  // namespace kandinsky
