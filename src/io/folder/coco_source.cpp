#include <algorithm>
#include <numeric>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/folder/folder.hpp"
#include "io/image/photo.hpp"
#include "io/source/source.hpp"

namespace kandinsky {

namespace {
class CocoSource : public ImageSource {
  public:
    CocoSource(const std::filesystem::path& path, const CocoLabels& labels)
        : file_(path, labels.options), labels_(labels), path_(printable(path.string())) {
        const std::vector<CocoImage>& images = file_.images();
        std::vector<std::string> names;
        names.reserve(images.size());
        for (const CocoImage& image : images)
            names.push_back(std::filesystem::path(image.file_name).stem().string());
        order_.resize(images.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
        const bool masks = labels.options.overlap == CocoOverlap::masks;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const CocoImage& image = images[order_[i]];
            if (i > 0 && names[order_[i]] == names[order_[i - 1]])
                fail(ErrorKind::data,
                     "{}: the images {} and {} are both named '{}', so files cannot be paired", path_,
                     images[order_[i - 1]].id, image.id, printable(names[order_[i]]));
            ItemInfo info;
            info.name = names[order_[i]];
            info.path = fmt::format("{}, image {}", path_, printable(image.file_name));
            info.planes = masks ? file_.class_names().size() + 1 : 0;
            const bool boxed = labels.letterbox.pixels() > 0;
            info.height = boxed ? labels.letterbox.height : image.height;
            info.width = boxed ? labels.letterbox.width : image.width;
            items_.push_back(std::move(info));
        }
    }

    [[nodiscard]] std::string_view format() const override { return "COCO"; }
    [[nodiscard]] bool catalogue() const override { return true; }

    [[nodiscard]] Array read(std::size_t item) const override {
        const ItemInfo& info = items_[item];
        Array own;
        try {
            own = file_.labels(order_[item]);
        } catch (const Error& error) {
            // The item's path already contains the file's name.
            std::string text = error.what();
            if (text.starts_with(path_ + ": ")) text.erase(0, path_.size() + 2);
            throw Error(error.kind(), info.path + ": " + text);
        }
        const std::size_t planes = std::max<std::size_t>(info.planes, 1);
        std::vector<std::size_t> shape{1, info.height, info.width};
        if (info.planes > 0) shape.insert(shape.begin() + 1, info.planes);
        if (labels_.letterbox.pixels() == 0)
            return {ArrayView{own.view().data, DType::uint8, shape, c_strides(shape, DType::uint8)},
                    std::make_shared<Array>(own)};
        const CocoImage& image = file_.images()[order_[item]];
        const Grid size{.height = image.height, .width = image.width};
        const Letterbox box = letterbox(size, labels_.letterbox);
        Array out = Array::zeros(DType::uint8, shape);
        auto* const to = reinterpret_cast<std::uint8_t*>(out.mutable_data());
        for (std::size_t plane = 0; plane < planes; ++plane) {
            // Padding is background (label 0, or a 1 in the mask of class 0) or an ignored label.
            std::uint8_t pad = labels_.ignore_padding ? kCocoIgnored : 0;
            if (info.planes > 0) pad = plane == 0 ? 1 : 0;
            letterbox_labels(own.data_as<std::uint8_t>() + plane * size.pixels(), box, pad,
                             to + plane * box.grid.pixels());
        }
        return out;
    }

  private:
    CocoFile file_;
    CocoLabels labels_;
    std::string path_;
    std::vector<std::size_t> order_;  ///< item -> image of the file
};
}  // namespace

std::unique_ptr<ImageSource> open_coco(const std::filesystem::path& path, const CocoLabels& labels) {
    return std::make_unique<CocoSource>(path, labels);
}

bool is_coco(const std::filesystem::path& path) {
    return lower_ending(path) == ".json";
}

}  // namespace kandinsky
