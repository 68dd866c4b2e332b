#include "io/source/source.hpp"

#include <cctype>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/array/npy.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

/// Reverses an axis of a view; nothing is copied.
void reverse(ArrayView& view, std::size_t axis) {
    view.data += view.strides[axis] * static_cast<std::ptrdiff_t>(view.shape[axis] - 1);
    view.strides[axis] = -view.strides[axis];
}
}  // namespace

std::string lower_ending(const fs::path& file) {
    return lower(file.extension().string());
}

std::string item_name(const fs::path& file, const FolderFormat& format) {
    std::string name = file.filename().string();
    for (const std::string_view ending : format.endings)
        if (name.size() > ending.size() && lower(name).ends_with(ending))
            return name.substr(0, name.size() - ending.size());
    return name;
}

std::string problem_text(const std::string& message, const std::string& path) {
    std::string text = message;
    if (path.empty()) return printable(text, 400);
    const std::string complaint = "cannot read " + path + ":";
    if (text.starts_with(complaint)) text.erase(0, complaint.size());
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path))
        text.erase(at, path.size() + (text.compare(at + path.size(), 2, ": ") == 0 ? 1 : 0));
    text.erase(0, text.find_first_not_of(' '));
    return printable(text, 400);
}

std::vector<ItemInfo> describe_files(const std::vector<fs::path>& files, const FolderFormat& format,
                                     const std::function<void(std::size_t, ItemInfo&)>& look) {
    std::vector<ItemInfo> items(files.size());
    parallel_for(files.size(), [&](std::size_t i) {
        items[i].name = item_name(files[i], format);
        items[i].path = files[i].string();
        try {
            look(i, items[i]);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::file) throw;
            items[i].problem = problem_text(error.what(), items[i].path);
        }
    });
    return items;
}

Array check_extents(const ItemInfo& info, Array values) {
    std::vector<std::size_t> shape{info.slices, info.height, info.width};
    if (info.planes > 0) shape.insert(shape.begin() + 1, info.planes);
    if (values.shape() != shape)
        fail(ErrorKind::data, "{} changed while it was being read: its shape is now {}", info.path,
             values.view().shape_text());
    return values;
}

DType bits_dtype(std::size_t classes) {
    if (classes <= 8) return DType::uint8;
    if (classes <= 16) return DType::uint16;
    if (classes <= 32) return DType::uint32;
    fail(ErrorKind::usage, "`coding bits` supports at most 32 classes, but there are {}; use `coding planes`",
         classes);
}

void ImageSource::write_sets(std::size_t item, const ItemSets& sets, const fs::path& folder) const {
    const ItemInfo& info = items()[item];
    const std::size_t pixels = info.height * info.width;
    std::vector<std::size_t> shape{sets.classes, info.height, info.width};
    if (info.volume) shape.insert(shape.begin(), info.slices);
    const fs::path path = folder / (sets.name + ".npy");
    if (sets.coding == SetCoding::planes) {
        write_npy(path, {reinterpret_cast<const std::byte*>(sets.values), sets.dtype, shape,
                         c_strides(shape, sets.dtype)});
        return;
    }
    shape.erase(shape.end() - 3);
    std::vector<std::uint32_t> bits(info.slices * pixels);
    for (std::size_t s = 0; s < info.slices; ++s)
        for (std::size_t c = 0; c < sets.classes; ++c)
            for (std::size_t p = 0; p < pixels; ++p)
                bits[s * pixels + p] |=
                    static_cast<std::uint32_t>(sets.values[(s * sets.classes + c) * pixels + p] != 0) << c;
    write_npy(path, narrowed(bits, shape, bits_dtype(sets.classes)).view());
}

SliceAxes slice_axes(Axis axis) {
    if (axis == Axis::coronal) return {1, 2, 0};
    if (axis == Axis::sagittal) return {0, 2, 1};
    return {2, 1, 0};
}

Axis axis_of(const std::string& name) {
    for (const Axis axis : {Axis::axial, Axis::coronal, Axis::sagittal})
        if (name == name_of(axis)) return axis;
    fail(ErrorKind::usage, "`axis` is '{}', but must be axial, coronal or sagittal", name);
}

std::string_view name_of(Axis axis) {
    return axis == Axis::axial ? "axial" : axis == Axis::coronal ? "coronal" : "sagittal";
}

ArrayView as_slices(const ArrayView& stored, const Orientation& orientation, Axis axis) {
    ArrayView turned = stored;
    for (std::size_t canonical = 0; canonical < 3; ++canonical)
        if (orientation.flipped[canonical]) reverse(turned, orientation.stored[canonical]);
    const SliceAxes axes = slice_axes(axis);
    ArrayView out{turned.data, turned.dtype, {}, {}};
    const auto take = [&](std::size_t from) {
        out.shape.push_back(turned.shape[from]);
        out.strides.push_back(turned.strides[from]);
    };
    take(orientation.stored[axes.slice]);
    if (stored.rank() == 4) take(3);
    take(orientation.stored[axes.row]);
    take(orientation.stored[axes.column]);
    return out;
}

ArrayView as_stored(const ArrayView& slices, const Orientation& orientation, Axis axis) {
    const SliceAxes axes = slice_axes(axis);
    ArrayView out{slices.data, slices.dtype, std::vector<std::size_t>(4), std::vector<std::ptrdiff_t>(4)};
    const auto give = [&](std::size_t from, std::size_t to) {
        out.shape[3 - to] = slices.shape[from];
        out.strides[3 - to] = slices.strides[from];
    };
    give(0, orientation.stored[axes.slice]);
    give(1, 3);
    give(2, orientation.stored[axes.row]);
    give(3, orientation.stored[axes.column]);
    for (std::size_t canonical = 0; canonical < 3; ++canonical)
        if (orientation.flipped[canonical]) reverse(out, 3u - orientation.stored[canonical]);
    return out;
}

}  // namespace kandinsky
