#include "cli/commands/photo_flags.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/fail.hpp"
#include "io/image/photo.hpp"
#include "model/image_reading.hpp"

namespace kandinsky::cli {

namespace {
/// Row `image` of [N,3,H,W] or [N,H,W,3] as [H,W,3].
Array row_of(const Array& all, std::size_t image) {
    ArrayView view = all.view();
    view.data = view.at(image);
    view.shape.erase(view.shape.begin());
    view.strides.erase(view.strides.begin());
    if (view.shape.back() != 3) {
        std::rotate(view.shape.begin(), view.shape.begin() + 1, view.shape.end());
        std::rotate(view.strides.begin(), view.strides.begin() + 1, view.strides.end());
    }
    return {view, std::make_shared<Array>(all)};
}

std::function<Array(std::size_t)> from_array(const std::string& name, const Input& test) {
    const Array all = load_array(name, {"photos", "images", "image"});
    const std::size_t n = test.data.images(), height = test.data.grid().height,
                      width = test.data.grid().width;
    const std::vector<std::size_t> planes{n, 3, height, width}, pixels{n, height, width, 3};
    if (all.dtype() != DType::uint8 || (all.shape() != planes && all.shape() != pixels))
        fail(ErrorKind::data,
             "{} is {} of shape {}, but photos of these test images are uint8 [{}, 3, {}, {}] or [{}, {}, "
             "{}, 3]",
             name, name_of(all.dtype()), all.view().shape_text(), n, height, width, n, height, width);
    return [all](std::size_t image) { return row_of(all, image); };
}
}  // namespace

void PhotoFlags::declare(CLI::App& app) {
    app.add_option(
           "--photos", photos,
           "photos of the test images, to lie under their sets in the report: a folder of JPEG or PNG "
           "files, or an array uint8 [N,3,H,W]")
        ->type_name("PATH");
}

std::function<Array(std::size_t)> PhotoFlags::reader(const Input& test, Grid letterbox) const {
    if (photos.empty()) return {};
    if (!std::filesystem::is_directory(photos)) return from_array(photos, test);
    if (test.names.empty())
        fail(ErrorKind::usage,
             "{} is a folder, but the test images are an array: photos pair by name; give them as an array "
             "too",
             photos);
    std::map<std::string, std::filesystem::path> by_name;
    for (const std::filesystem::path& file : photos_of(photos)) by_name.emplace(file.stem().string(), file);
    return [by_name, names = test.names, folder = photos, grid = test.data.grid(),
            letterbox](std::size_t image) {
        const auto found = by_name.find(names[image]);
        if (found == by_name.end())
            fail(ErrorKind::data, "there is no photo named {} in {}", names[image], folder);
        const Array photo = read_photo(found->second);
        if (photo.shape()[0] == grid.height && photo.shape()[1] == grid.width) return photo;
        return letterbox.pixels() > 0 ? letterbox_photo(photo, grid) : resize_photo(photo, grid);
    };
}

}  // namespace kandinsky::cli
