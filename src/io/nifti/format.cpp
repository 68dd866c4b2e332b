#include "io/nifti/format.hpp"

#include <algorithm>

#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/nifti/volume.hpp"
#include "io/zip/deflate.hpp"

namespace kandinsky {

namespace {
class NiftiSource : public ImageSource {
  public:
    NiftiSource(const std::vector<std::filesystem::path>& files, const SourceOptions& options)
        : options_(options), headers_(files.size()) {
        items_ = describe_files(files, nifti_format(), [&](std::size_t i, ItemInfo& info) {
            headers_[i] = read_nifti_header(files[i]);
            describe(headers_[i], info);
        });
    }

    [[nodiscard]] std::string_view format() const override { return "NIfTI"; }

    [[nodiscard]] Array read(std::size_t item) const override {
        const NiftiHeader& header = headers_[item];
        const bool labels = options_.role == Role::labels;
        const Array values =
            scaled_values(header, read_nifti(items_[item].path), labels ? DType::float64 : DType::float32);
        ArrayView stored = values.view();
        if (stored.rank() == 3 && items_[item].planes > 0) {
            stored.shape.push_back(1);
            stored.strides.push_back(static_cast<std::ptrdiff_t>(size_of(stored.dtype)));
        } else if (stored.rank() == 4 && items_[item].planes == 0) {
            stored.shape.pop_back();
            stored.strides.pop_back();
        }
        return {as_slices(stored, orientation(header), options_.axis), std::make_shared<Array>(values)};
    }

    void write_sets(std::size_t item, const ItemSets& sets,
                    const std::filesystem::path& folder) const override {
        write_nifti_sets(
            {items_[item].path, orientation(headers_[item]), headers_[item].extent, headers_[item].step},
            options_, items_[item], sets, folder);
    }

  private:
    [[nodiscard]] Orientation orientation(const NiftiHeader& header) const {
        return options_.reorient ? header.orientation : Orientation{};
    }

    void describe(const NiftiHeader& header, ItemInfo& info) const {
        const SliceAxes axes = slice_axes(options_.axis);
        const Orientation turn = orientation(header);
        info.slices = header.extent[turn.stored[axes.slice]];
        info.height = header.extent[turn.stored[axes.row]];
        info.width = header.extent[turn.stored[axes.column]];
        info.volume = true;
        info.spacing = {header.step[turn.stored[axes.slice]], header.step[turn.stored[axes.row]],
                        header.step[turn.stored[axes.column]]};
        if (options_.role == Role::labels) {
            info.planes = header.planes > 1 ? header.planes : 0;
        } else {
            info.planes = std::max<std::size_t>(header.planes, 1);
            if (options_.role == Role::probabilities && !is_floating(header.dtype) && !header.scaled())
                info.problem = fmt::format("holds {} without a scale, so labels rather than probabilities",
                                           name_of(header.dtype));
        }
    }

    SourceOptions options_;
    std::vector<NiftiHeader> headers_;
};
}  // namespace

FolderFormat nifti_format() {
    return {"NIfTI", {".nii.gz", ".nii"}, open_source<NiftiSource>};
}

std::optional<GeometryReference> nifti_geometry(const std::filesystem::path& file) {
    try {
        const NiftiHeader header = read_nifti_header(file);
        return GeometryReference{file, header.orientation, header.extent, header.step};
    } catch (const Error&) {
        return std::nullopt;  // the reader of the file's content reports the error
    }
}

void write_nifti_sets(const GeometryReference& reference, const SourceOptions& options, const ItemInfo& info,
                      const ItemSets& sets, const std::filesystem::path& folder) {
    const std::vector<std::size_t> shape{info.slices, sets.classes, info.height, info.width};
    const ArrayView slices{reinterpret_cast<const std::byte*>(sets.values), sets.dtype, shape,
                           c_strides(shape, sets.dtype)};
    const ArrayView stored = as_stored(slices, reference.orientation, options.axis);
    const NiftiHeader like = read_nifti_header(reference.path);
    const bool bits = sets.coding == SetCoding::bits;
    const DType dtype = bits ? bits_dtype(sets.classes) : sets.dtype;
    const bool compressed = reference.path.extension() == ".gz";
    AtomicFile file(folder / (sets.name + (compressed ? ".nii.gz" : ".nii")));
    std::optional<GzipWriter> packed;
    if (compressed) packed.emplace(file);
    const auto write = [&](const void* data, std::size_t bytes) {
        if (packed)
            packed->write({static_cast<const std::byte*>(data), bytes});
        else
            file.write(data, bytes);
    };
    const std::string header = sets_header(like, bits ? 1 : sets.classes, dtype, sets.note);
    write(header.data(), header.size());
    if (bits) {
        const auto values = Array(stored, nullptr).to_vector<std::uint8_t>();
        const std::size_t voxels = values.size() / sets.classes;
        std::vector<std::uint32_t> volume(voxels);
        for (std::size_t i = 0; i < values.size(); ++i)
            volume[i % voxels] |= static_cast<std::uint32_t>(values[i] != 0) << (i / voxels);
        write(narrowed(volume, {volume.size()}, dtype).view().data, volume.size() * size_of(dtype));
    } else {
        for_each_c_order_piece(stored, write);
    }
    if (packed) packed->finish();
    file.commit();
}

}  // namespace kandinsky
