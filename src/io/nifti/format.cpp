#include "io/nifti/format.hpp"

#include <algorithm>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"
#include "io/nifti/volume.hpp"
#include "io/source/items.hpp"
#include "io/source/volume_view.hpp"
#include "io/zip/gzip.hpp"

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
        write_nifti_sets({items_[item].path, orientation(headers_[item]), headers_[item].extent}, options_,
                         items_[item], sets, folder);
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

/// The voxels of the sets in the order of a file, x fastest, one z at a time.
template <class Sink>
void for_each_plane(const ArrayView& stored, Sink&& sink) {
    const std::size_t nx = stored.shape[0], ny = stored.shape[1];
    std::vector<std::uint8_t> plane(nx * ny);
    for (std::size_t c = 0; c < stored.shape[3]; ++c)
        for (std::size_t z = 0; z < stored.shape[2]; ++z) {
            const std::byte* const start = stored.data + static_cast<std::ptrdiff_t>(c) * stored.strides[3] +
                                           static_cast<std::ptrdiff_t>(z) * stored.strides[2];
            for (std::size_t y = 0; y < ny; ++y)
                convert_elements(start + static_cast<std::ptrdiff_t>(y) * stored.strides[1], DType::uint8,
                                 stored.strides[0], nx, plane.data() + y * nx);
            sink(c, z, plane);
        }
}
}  // namespace

FolderFormat nifti_format() {
    return {"NIfTI", {".nii.gz", ".nii"}, open_source<NiftiSource>};
}

std::optional<GeometryReference> nifti_geometry(const std::filesystem::path& file) {
    try {
        const NiftiHeader header = read_nifti_header(file);
        return GeometryReference{file, header.orientation, header.extent};
    } catch (const Error&) {
        return std::nullopt;  // whoever needs the file's content will say what is wrong with it
    }
}

void write_nifti_sets(const GeometryReference& reference, const SourceOptions& options, const ItemInfo& info,
                      const ItemSets& sets, const std::filesystem::path& folder) {
    const std::vector<std::size_t> shape{info.slices, sets.classes, info.height, info.width};
    const ArrayView slices{reinterpret_cast<const std::byte*>(sets.values), DType::uint8, shape,
                           c_strides(shape, DType::uint8)};
    const ArrayView stored = as_stored(slices, reference.orientation, options.axis);
    const NiftiHeader like = read_nifti_header(reference.path);
    const bool bits = sets.coding == SetCoding::bits;
    const DType dtype = bits ? bits_dtype(sets.classes) : DType::uint8;
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
    const std::string header = sets_header(like, bits ? 1 : sets.classes, dtype);
    write(header.data(), header.size());
    if (bits) {
        const std::size_t plane = stored.shape[0] * stored.shape[1];
        std::vector<std::uint32_t> volume(plane * stored.shape[2]);
        for_each_plane(stored, [&](std::size_t c, std::size_t z, const std::vector<std::uint8_t>& values) {
            for (std::size_t i = 0; i < plane; ++i)
                volume[z * plane + i] |= static_cast<std::uint32_t>(values[i] != 0) << c;
        });
        with_type(dtype, [&](auto tag) {
            using T = decltype(tag);
            std::vector<T> narrow(volume.size());
            std::transform(volume.begin(), volume.end(), narrow.begin(),
                           [](std::uint32_t value) { return static_cast<T>(value); });
            write(narrow.data(), narrow.size() * sizeof(T));
        });
    } else {
        for_each_plane(stored, [&](std::size_t, std::size_t, const std::vector<std::uint8_t>& values) {
            write(values.data(), values.size());
        });
    }
    if (packed) packed->finish();
    file.commit();
}

}  // namespace kandinsky
