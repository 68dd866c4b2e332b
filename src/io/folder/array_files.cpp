#include "io/folder/folder.hpp"
#include "io/zip/zip_reader.hpp"

#include <algorithm>
#include <cstring>
#include <kandinsky/npz.hpp>

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/file/mapped_file.hpp"
#include "io/nifti/format.hpp"
#include "io/source/source.hpp"
#include "io/zip/deflate.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
std::string shape_text(const std::vector<std::size_t>& shape) {
    return ArrayView{nullptr, DType::uint8, shape, {}}.shape_text();
}

/// Reads the first bytes of a member, as many as fit into `out`.
std::size_t first_bytes(std::span<const std::byte> stored, bool deflated, std::span<std::byte> out) {
    if (!deflated) {
        const std::size_t count = std::min(stored.size(), out.size());
        std::memcpy(out.data(), stored.data(), count);
        return count;
    }
    constexpr std::size_t kEnough = std::size_t{1} << 20;
    std::span<const std::byte> in = stored.first(std::min(stored.size(), kEnough));
    std::span<std::byte> left = out;
    (void)InflateStream(kRawWindow).step(in, left);  // damage is reported when the whole member is read
    return out.size() - left.size();
}
struct NpzShape {
    std::string key;
    std::vector<std::size_t> shape;
};

/// Chooses the array of a .npz and reads its shape without unpacking it. The array is the first of
/// `usual_keys` that exists, otherwise the only array. Throws Error of kind `data` or `file`.
NpzShape npz_shape(const std::filesystem::path& path, const std::vector<std::string>& usual_keys) {
    const ZipReader archive(path);
    const std::vector<std::string> names = archive.array_names();
    std::string key = names.size() == 1 ? names.front() : "";
    for (auto usual = usual_keys.rbegin(); usual != usual_keys.rend(); ++usual)
        if (archive.has(*usual + ".npy")) key = *usual;
    if (key.empty())
        fail(ErrorKind::data, "has {} arrays, but none named {}", names.size(), fmt::join(usual_keys, ", "));
    const auto member = std::find_if(archive.members().begin(), archive.members().end(),
                                     [&](const ZipReader::Member& m) { return m.name == key + ".npy"; });
    const MappedFile file = map_file(path);
    if (member->data + member->stored > file.bytes.size()) fail(ErrorKind::data, "changed while it was read");
    std::vector<std::byte> start(4096);
    start.resize(
        first_bytes(file.bytes.subspan(member->data, member->stored), member->compression != 0, start));
    return {key, read_npy_header(start, path.string() + ":" + key).shape};
}

class NpySource : public ImageSource {
  public:
    NpySource(const std::vector<fs::path>& files, const SourceOptions& options) {
        items_ = describe_files(files, npy_format(), [&](std::size_t i, ItemInfo& info) {
            const Array array = read_npy(files[i]);
            const std::vector<std::size_t>& shape = array.shape();
            if (shape.size() != 2 && shape.size() != 3)
                fail(ErrorKind::data, "has shape {}, but must be [classes, height, width] or [height, width]",
                     shape_text(shape));
            const bool labels = options.role == Role::labels;
            info.planes = shape.size() == 3 ? shape[0] : labels ? 0 : 1;
            info.height = shape[shape.size() - 2];
            info.width = shape.back();
            if (array.view().size() == 0) info.problem = "is empty: shape " + shape_text(shape);
        });
    }

    [[nodiscard]] std::string_view format() const override { return "NumPy"; }

    [[nodiscard]] Array read(std::size_t item) const override {
        const Array array = read_npy(items_[item].path);
        ArrayView view = array.view();
        const std::size_t wanted = items_[item].planes > 0 ? 4 : 3;
        while (view.rank() < wanted) {
            view.shape.insert(view.shape.begin(), 1);
            view.strides.insert(view.strides.begin(), 0);
        }
        return {view, std::make_shared<Array>(array)};
    }
};

class NpzSource : public ImageSource {
  public:
    NpzSource(const std::vector<fs::path>& files, const SourceOptions& options)
        : options_(options), keys_(files.size()), references_(files.size()) {
        items_ = describe_files(files, npz_format(),
                                [&](std::size_t i, ItemInfo& info) { describe(i, files[i], info); });
    }

    [[nodiscard]] std::string_view format() const override { return "nnU-Net"; }

    [[nodiscard]] Array read(std::size_t item) const override {
        const ItemInfo& info = items_[item];
        const Array array = read_npz(info.path, keys_[item]);
        ArrayView view = array.view();
        if (info.volume) {
            // [class,] z, y, x become x, y, z [, class].
            std::reverse(view.shape.begin(), view.shape.end());
            std::reverse(view.strides.begin(), view.strides.end());
            view = as_slices(view, orientation(item), options_.axis);
        } else {
            view.shape.insert(view.shape.begin(), 1);
            view.strides.insert(view.strides.begin(), 0);
        }
        return {view, std::make_shared<Array>(array)};
    }

    void write_sets(std::size_t item, const ItemSets& sets, const fs::path& folder) const override {
        const ItemInfo& info = items_[item];
        if (!info.volume || !references_[item]) {
            ImageSource::write_sets(item, sets, folder);
            return;
        }
        GeometryReference reference = *references_[item];
        reference.orientation = orientation(item);
        write_nifti_sets(reference, options_, info, sets, folder);
    }

  private:
    [[nodiscard]] Orientation orientation(std::size_t item) const {
        return options_.reorient && references_[item] ? references_[item]->orientation : Orientation{};
    }

    void describe(std::size_t i, const fs::path& file, ItemInfo& info) {
        const bool labels = options_.role == Role::labels;
        const NpzShape found =
            npz_shape(file, labels ? std::vector<std::string>{"labels", "label", "seg", "mask"}
                            : options_.role == Role::images
                                ? std::vector<std::string>{"images", "image", "data"}
                                : std::vector<std::string>{"probabilities", "softmax", "probs"});
        keys_[i] = found.key;
        const std::vector<std::size_t>& shape = found.shape;
        const std::size_t image_rank = labels ? 2 : 3;
        if (shape.size() != image_rank && shape.size() != image_rank + 1)
            fail(ErrorKind::data, "{} has shape {}, but must be {}", found.key, shape_text(shape),
                 labels ? "[z, y, x] or [height, width]" : "[classes, z, y, x] or [classes, height, width]");
        if (std::find(shape.begin(), shape.end(), 0u) != shape.end())
            fail(ErrorKind::data, "{} is empty: shape {}", found.key, shape_text(shape));
        info.planes = labels ? 0 : shape[0];
        info.volume = shape.size() == image_rank + 1;
        info.height = shape[shape.size() - 2];
        info.width = shape.back();
        if (!info.volume) return;
        const std::array<std::size_t, 3> extent{shape[shape.size() - 1], shape[shape.size() - 2],
                                                shape[shape.size() - 3]};
        for (const char* const ending : {".nii.gz", ".nii"}) {
            std::error_code ignored;
            const fs::path beside = file.parent_path() / (info.name + ending);
            if (!references_[i] && fs::exists(beside, ignored)) references_[i] = nifti_geometry(beside);
        }
        if (!references_[i] && options_.reference) references_[i] = options_.reference(info.name);
        if (references_[i] && references_[i]->extent != extent) {
            const auto& other = references_[i]->extent;
            fail(ErrorKind::data, "has {} x {} x {} voxels (x, y, z), but {} has {} x {} x {}", extent[0],
                 extent[1], extent[2], references_[i]->path.string(), other[0], other[1], other[2]);
        }
        const SliceAxes axes = slice_axes(options_.axis);
        const Orientation turn = orientation(i);
        info.slices = extent[turn.stored[axes.slice]];
        info.height = extent[turn.stored[axes.row]];
        info.width = extent[turn.stored[axes.column]];
        if (references_[i]) {
            const std::array<double, 3>& step = references_[i]->step;
            info.spacing = {step[turn.stored[axes.slice]], step[turn.stored[axes.row]],
                            step[turn.stored[axes.column]]};
        }
    }

    SourceOptions options_;
    std::vector<std::string> keys_;
    std::vector<std::optional<GeometryReference>> references_;
};
}  // namespace

FolderFormat npy_format() {
    return {"NumPy", {".npy"}, open_source<NpySource>};
}

FolderFormat npz_format() {
    return {"NumPy archive", {".npz"}, open_source<NpzSource>};
}

}  // namespace kandinsky
