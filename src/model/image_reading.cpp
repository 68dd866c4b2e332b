#include "model/image_reading.hpp"

#include <algorithm>
#include <map>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/data/elements.hpp"
#include "io/array/scratch_array.hpp"
#include "io/file/printable.hpp"
#include "io/image/photo.hpp"

namespace kandinsky {

namespace {
namespace fs = std::filesystem;

bool is_photo(const fs::path& file) {
    const std::string ending = lower_ending(file);
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

/// The photos of a folder by name. Two photos of one name are a data error.
std::map<std::string, fs::path> photos_in(const fs::path& folder) {
    std::map<std::string, fs::path> photos;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem))
        if (is_photo(entry->path()) && entry->path().filename().string().front() != '.')
            if (const auto [at, fresh] = photos.emplace(entry->path().stem().string(), entry->path()); !fresh)
                fail(ErrorKind::data,
                     "{} and {} have the same name, by which labels and outputs are paired; rename one",
                     printable(std::min(at->second, entry->path()).string()),
                     printable(std::max(at->second, entry->path()).filename().string()));
    if (problem) fail(ErrorKind::file, "cannot read {}: {}", printable(folder.string()), problem.message());
    return photos;
}

/// [H,W,3] as planes [3][H][W].
std::vector<std::uint8_t> planes_of(const Array& photo) {
    const std::size_t pixels = photo.shape()[0] * photo.shape()[1];
    std::vector<std::uint8_t> out(3 * pixels);
    const auto* const from = photo.data_as<std::uint8_t>();
    for (std::size_t p = 0; p < pixels; ++p)
        for (std::size_t c = 0; c < 3; ++c) out[c * pixels + p] = from[3 * p + c];
    return out;
}

void read_photos(const ImageFiles& files, const std::map<std::string, fs::path>& photos, bool boxed,
                 Grid grid, ReadImages& out, Progress& progress) {
    ScratchArray scratch(DType::uint8, {3, grid.height, grid.width});
    scratch.extend(out.origins.size());
    parallel_for(out.origins.size(), progress, "reading photos", [&](std::size_t i) {
        const auto found = photos.find(out.origins[i].name);
        if (found == photos.end())
            fail(ErrorKind::data, "{} has labels, but there is no photo of that name in {}",
                 printable(out.origins[i].name), printable(files.images.string()));
        Array photo = read_photo(found->second);
        const bool fits = photo.shape()[0] == grid.height && photo.shape()[1] == grid.width;
        if (!fits && boxed) photo = letterbox_photo(photo, grid);
        if (!fits && !boxed && files.folder.fit.kind != GridFit::Kind::resize)
            fail(ErrorKind::data,
                 "{} is {} x {} (height x width), but the grid is {} x {}; use `resize {}x{}` (width x "
                 "height)",
                 printable(found->second.string()), photo.shape()[0], photo.shape()[1], grid.height,
                 grid.width, grid.width, grid.height);
        if (!fits && !boxed) photo = resize_photo(photo, grid);
        scratch.put(i, planes_of(photo).data());
    });
    out.pixels = scratch.array();
}

/// Reads the images of a source at out.origins into out.pixels. Values may be any numbers; padding is zero.
void read_volumes(const ImageSource& images, const ImageFiles& files, Grid grid, ReadImages& out,
                  Progress& progress) {
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < images.items().size(); ++i) by_name.emplace(images.items()[i].name, i);
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> work;  // item, rows
    for (std::size_t row = 0; row < out.origins.size(); ++row) {
        if (row > 0 && out.origins[row].name == out.origins[row - 1].name) {
            work.back().second.push_back(row);
            continue;
        }
        const auto found = by_name.find(out.origins[row].name);
        if (found == by_name.end())
            fail(ErrorKind::data, "{} has labels, but there is no image of that name in {}",
                 printable(out.origins[row].name), printable(files.images.string()));
        const ItemInfo& info = images.items()[found->second];
        if (!info.problem.empty()) fail(ErrorKind::data, "{}: {}", printable(info.path), info.problem);
        work.push_back({found->second, {row}});
    }
    const std::size_t channels = std::max<std::size_t>(images.items()[work.front().first].planes, 1);
    ScratchArray scratch(DType::float32, {channels, grid.height, grid.width});
    scratch.extend(out.origins.size());
    GridFit fit = files.folder.fit;
    fit.grid = grid;
    parallel_for(work.size(), progress, "reading images", [&](std::size_t w) {
        const ItemInfo& info = images.items()[work[w].first];
        const Array values = images.read(work[w].first);
        const std::size_t planes = std::max<std::size_t>(info.planes, 1);
        const Grid own = info.grid();
        if (planes != channels)
            fail(ErrorKind::data, "{} has {} channels, but the first image has {}", printable(info.path),
                 planes, channels);
        std::vector<float> plane(own.pixels()), item(channels * grid.pixels());
        for (const std::size_t row : work[w].second) {
            const std::size_t slice = out.origins[row].slice;
            if (slice >= info.slices)
                fail(ErrorKind::data, "{} has {} slices, fewer than its labels", printable(info.path),
                     info.slices);
            for (std::size_t c = 0; c < channels; ++c) {
                read_plane(values.view(), slice, c, own, plane.data());
                fit_values(plane.data(), own, fit, 0.0F, item.data() + c * grid.pixels());
            }
            scratch.put(row, item.data());
        }
    });
    out.pixels = scratch.array();
}
}  // namespace

std::vector<fs::path> photos_of(const fs::path& folder) {
    std::error_code ignored;
    std::vector<fs::path> photos;
    if (fs::is_directory(folder, ignored))
        for (const auto& [name, path] : photos_in(folder)) photos.push_back(path);
    return photos;
}

ReadImages read_model_images(const ImageFiles& files, Progress& progress) {
    ReadImages out;
    FolderOptions options = files.folder;
    std::error_code ignored;
    std::map<std::string, fs::path> photos;
    if (fs::is_directory(files.images, ignored)) photos = photos_in(files.images);
    if (fs::is_regular_file(files.images, ignored) && is_photo(files.images))
        photos.emplace(files.images.stem().string(), files.images);
    const bool boxed = options.coco.letterbox.pixels() > 0;
    std::unique_ptr<ImageSource> images;
    if (photos.empty()) images = open_images(files.images, Role::images, options);
    Grid grid = boxed ? options.coco.letterbox : options.fit.grid;
    if (!files.labels.empty()) {
        const std::unique_ptr<ImageSource> labels = open_images(files.labels, Role::labels, options);
        FolderData data = read_images(nullptr, labels.get(), options, progress);
        if (data.labels.shape().size() != 3)
            fail(ErrorKind::data,
                 "{}: a network's images need one label per pixel, not masks that may overlap",
                 printable(files.labels.string()));
        out.labels = data.labels;
        out.groups = data.groups;
        out.origins = data.origins;
        out.cases = data.cases;
        out.ignore = data.ignore;
        grid = {static_cast<std::uint32_t>(data.labels.shape()[1]),
                static_cast<std::uint32_t>(data.labels.shape()[2])};
    } else if (images != nullptr) {
        std::vector<std::int64_t> scans;
        bool volumes = false;
        for (std::size_t i = 0; i < images->items().size(); ++i) {
            const ItemInfo& info = images->items()[i];
            volumes = volumes || info.volume;
            scans.insert(scans.end(), info.slices, static_cast<std::int64_t>(i));
            for (std::size_t s = 0; s < info.slices; ++s) out.origins.push_back({info.name, s, i});
        }
        out.cases = images->items().size();
        if (volumes) out.groups = Array::copy_of(scans, {scans.size()});
        if (grid.pixels() == 0) grid = images->items().front().grid();
    } else {
        for (const auto& [name, path] : photos) out.origins.push_back({name, 0, out.cases++});
        if (grid.pixels() == 0) {
            const Array first = read_photo(photos.begin()->second);
            grid = {static_cast<std::uint32_t>(first.shape()[0]),
                    static_cast<std::uint32_t>(first.shape()[1])};
        }
    }
    for (const ImageOrigin& origin : out.origins) out.names.push_back(origin.name);
    if (photos.empty())
        read_volumes(*images, files, grid, out, progress);
    else
        read_photos(files, photos, boxed, grid, out, progress);
    return out;
}

}  // namespace kandinsky
