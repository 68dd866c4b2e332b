#include "cli/commands/model_flags.hpp"

#include <algorithm>
#include <map>

#include "core/base/fail.hpp"
#include "io/folder/folder.hpp"
#include "io/image/photo.hpp"
#include "model/image_reading.hpp"

namespace kandinsky::cli {

namespace {
constexpr const char* kNoNetwork = "no network runs, because --probs gives the probabilities";
}  // namespace

void DeviceFlags::declare(OptionSet& app) {
    app.add_option("--device", device,
                   "device of the network: auto, cpu or cuda (ONNX models always run on the CPU)")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.counts_unless(app.add_flag("--mixed", mixed,
                                   "compute in mixed precision (bfloat16) on a GPU, with networks of "
                                   "'kandinsky train' only"),
                      [this] { return unless(device != "cpu", "it is for GPUs, but --device is cpu"); });
}

EngineOptions DeviceFlags::options(std::size_t threads) const {
    return {.device = device.c_str(), .threads = static_cast<std::uint32_t>(threads), .mixed = mixed};
}

void ImageFlags::declare(OptionSet& app, bool required) {
    auto* const option = app.input(
        "--images", images, "PATH",
        "images for the network: a folder of photos or volumes, or an array [N,H,W] or [N,channels,H,W]");
    if (required) option->required();
    app.add_option("--intensity", intensity,
                   "scaling of intensities: byte (divide by 255), percentile (0.5 and 99.5 percentiles of "
                   "the scan to [0,1]) or none (default: as a trained model states; else byte for uint8, "
                   "such as photos, and none for other types)");
    app.counts_unless("--intensity", [this] { return unless(!images.empty(), kNoNetwork); });
}

void ImageFlags::declare_volumes(OptionSet& app) const {
    for (const char* const flag : {"--axis", "--orient"})
        app.counts_unless(flag,
                          [this] { return unless(!has_photos(images), "photos are images, not volumes"); });
}

std::string intensity_rule(const std::string& flag, const std::string& standard, DType dtype) {
    if (!flag.empty()) return flag;
    if (!standard.empty()) return standard;
    return dtype == DType::uint8 ? "byte" : "none";
}

ImageInput ImageFlags::load(const std::string& labels, const std::string& groups, const std::string& ignore,
                            const FolderFlags& folder, const std::string& standard,
                            Progress& progress) const {
    const bool files = is_images(images) || has_photos(images);
    if (!labels.empty() && is_coco(labels) && !has_photos(images))
        fail(ErrorKind::usage, "{} annotates photos, but {} is not a folder of photos", labels, images);
    if (!labels.empty() && files != is_images(labels))
        fail(ErrorKind::usage,
             "{} is a folder, but {} is an array: files pair by name, so both must be folders",
             files ? images : labels, files ? labels : images);
    Array pixels, truth, parts;
    std::vector<std::int64_t> ignored = ignored_labels(ignore);
    if (files) {
        ImageFiles wanted{.images = images, .labels = labels, .folder = folder.options()};
        wanted.folder.ignore = ignored;
        ReadImages read = read_model_images(wanted, progress);
        pixels = read.pixels;
        truth = read.labels;
        parts = read.groups;
        if (!labels.empty()) ignored = read.ignore;
        if (!groups.empty()) {
            FolderData files_read;
            files_read.origins = std::move(read.origins);
            files_read.cases = read.cases;
            parts = groups_for(groups, files_read);
        }
    } else {
        pixels = load_array(images, {"images", "image", "x"});
        if (!labels.empty()) truth = load_labels(labels);
        parts = load_groups(groups);
    }
    const std::string rule = intensity_rule(intensity, standard, pixels.dtype());
    return {Samples(pixels, truth, parts, intensity_of(rule), ignored, images, labels), truth, parts, rule,
            ignored};
}

void ModelFlags::declare(OptionSet& app, bool required) {
    auto* const option = app.input(
        "--model", model, "FILE",
        "network to run: a model that 'kandinsky train' wrote, a TorchScript .pt file or an .onnx file");
    if (required) option->required();
    app.counts_unless(
        [this] { return unless(!model.empty(), kNoNetwork); },
        [&] {
            app.add_option("--outputs", outputs,
                           "outputs of a TorchScript or ONNX network: sigmoid or softmax for logits, none "
                           "for probabilities");
            app.add_option("--multiple", multiple,
                           "pad height and width to a multiple of this number of pixels (default: as a "
                           "trained model states; 1 for TorchScript and ONNX)")
                ->default_str("");
            app.add_option("--batch", batch, "number of images in a batch")->check(CLI::Range(1, 1 << 20));
            device.declare(app);
        });
}

OpenedModel ModelFlags::open(std::size_t threads) const {
    return open_model(
        {.path = model, .activation = outputs, .multiple = multiple, .engine = device.options(threads)});
}

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

void PhotoFlags::declare(OptionSet& app, const ReportFlags& report) {
    app.input("--photos", photos, "PATH",
              "photos of the test images, shown under their sets in the report: a folder of JPEG or PNG "
              "files, or an array uint8 [N,3,H,W]");
    app.counts_unless("--photos", [&report] { return unless(!report.page.empty(), "no report is written"); });
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
        Array photo = read_photo(found->second);
        if (photo.shape()[0] == grid.height && photo.shape()[1] == grid.width) return photo;
        return letterbox.pixels() > 0 ? letterbox_photo(photo, grid) : resize_photo(photo, grid);
    };
}

}  // namespace kandinsky::cli
