// Reads any text as COCO annotations. The first byte chooses the options; the rest is the file.
#include <filesystem>
#include <kandinsky/threads.hpp>

#include "harness.hpp"
#include "io/coco/coco.hpp"

namespace {

using namespace kandinsky;

constexpr std::size_t kMostPixels = 1 << 12, kMostImages = 8;  // for speed

void read_labels(const CocoFile& file, const CocoOptions& options) {
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < file.images().size(); ++i) {
        const CocoImage& image = file.images()[i];
        const std::filesystem::path name(image.file_name), inside = ("folder" / name).lexically_normal();
        fuzz::check(*inside.begin() == "folder" && !name.is_absolute(), "a name leads out of its folder");
        const std::size_t pixels = std::size_t{image.height} * image.width;
        if (pixels > kMostPixels || ++drawn > kMostImages) continue;
        fuzz::result_or_error([&] {
            const std::size_t classes = file.class_names().size();
            const bool masks = options.overlap == CocoOverlap::masks;
            const Array labels = file.labels(i);
            fuzz::check(labels.view().size() == pixels * (masks ? classes + 1 : 1), "labels of another size");
            for (const std::uint8_t label : labels.to_vector<std::uint8_t>())
                fuzz::check(masks ? label <= 1 : label <= classes || label == kCocoIgnored,
                            "a label of no class");
        });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const ThreadLimit one(1);
    fuzz::Bytes bytes(data, size);
    const std::uint8_t choice = bytes.byte();
    const auto rest = bytes.rest();
    fuzz::set_input(std::as_bytes(rest));
    CocoOptions options;
    if ((choice & 1) != 0) options.categories.emplace_back("1");
    if ((choice & 2) != 0 || options.categories.empty()) options.categories.emplace_back("cat");
    if ((choice & 4) != 0) options.crowd = CocoCrowd::ignore;
    if ((choice & 8) != 0) options.overlap = CocoOverlap::masks;
    fuzz::result_or_error([&] { read_labels(CocoFile(fuzz::kInput, options), options); });
    return 0;
}
