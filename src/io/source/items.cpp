#include "io/source/items.hpp"

#include <cctype>
#include <kandinsky/npy.hpp>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

namespace {
std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}
}  // namespace

std::string lower_ending(const fs::path& file) {
    return lower(file.extension().string());
}

std::string item_name(const fs::path& file, const FolderFormat& format) {
    const std::string name = file.filename().string();
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
        fail(ErrorKind::data, "{} changed while it was read: its shape is {} now", info.path,
             values.view().shape_text());
    return values;
}

DType bits_dtype(std::size_t classes) {
    if (classes <= 8) return DType::uint8;
    if (classes <= 16) return DType::uint16;
    if (classes <= 32) return DType::uint32;
    fail(ErrorKind::usage, "--coding bits has room for 32 classes, but there are {}; use --coding planes",
         classes);
}

void ImageSource::write_sets(std::size_t item, const ItemSets& sets, const fs::path& folder) const {
    const ItemInfo& info = items()[item];
    const std::size_t pixels = info.height * info.width;
    std::vector<std::size_t> shape{sets.classes, info.height, info.width};
    if (info.volume) shape.insert(shape.begin(), info.slices);
    const fs::path path = folder / (sets.name + ".npy");
    if (sets.coding == SetCoding::planes) {
        write_npy(path, {reinterpret_cast<const std::byte*>(sets.values), DType::uint8, shape,
                         c_strides(shape, DType::uint8)});
        return;
    }
    shape.erase(shape.end() - 3);
    std::vector<std::uint32_t> bits(info.slices * pixels);
    for (std::size_t s = 0; s < info.slices; ++s)
        for (std::size_t c = 0; c < sets.classes; ++c)
            for (std::size_t p = 0; p < pixels; ++p)
                bits[s * pixels + p] |=
                    static_cast<std::uint32_t>(sets.values[(s * sets.classes + c) * pixels + p] != 0) << c;
    const Array all = Array::copy_of(bits, shape);
    const DType dtype = bits_dtype(sets.classes);
    if (dtype == DType::uint8)
        write_npy(path, Array::copy_of(all.to_vector<std::uint8_t>(), shape).view());
    else if (dtype == DType::uint16)
        write_npy(path, Array::copy_of(all.to_vector<std::uint16_t>(), shape).view());
    else
        write_npy(path, all.view());
}

}  // namespace kandinsky
