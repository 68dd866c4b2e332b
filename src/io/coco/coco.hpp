#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>

namespace kandinsky {

/// The meaning of annotations that mark a crowd as a whole (iscrowd = 1).
enum class CocoCrowd {
    object,  ///< their class, as in the code the paper's authors released
    ignore,  ///< pixels of no class (label 255), unless an object covers them too
};

/// The meaning of pixels that objects of several selected categories cover.
enum class CocoOverlap {
    ignore,  ///< of no class (label 255): the truth is undecided there
    masks,   ///< of every one of those classes: the truth comes as 0/1 masks, one per class
};

struct CocoOptions {
    /// The categories to read, by name or by id; class k is the k-th of them and 0 is everything else.
    std::vector<std::string> categories;
    CocoCrowd crowd = CocoCrowd::object;
    CocoOverlap overlap = CocoOverlap::ignore;
};

struct CocoImage {
    std::int64_t id = 0;
    std::string file_name;  ///< never absolute, never with "..": it stays inside the image folder
    std::uint32_t height = 0, width = 0;
    std::size_t annotations = 0;  ///< of the selected categories
};

inline constexpr std::uint8_t kCocoIgnored = 255;

/// The instance annotations of a COCO JSON file, reduced to some categories. The file stays mapped, and for
/// each image and each annotation of those categories some 50 bytes are kept: outlines are read from the
/// file when an image's labels are asked for. Copies share everything. Keys may come in any order. Every
/// error is one line of kind `data` that names the file and the annotation's (or image's) id, or its byte.
class CocoFile {
  public:
    CocoFile(const std::filesystem::path& path, const CocoOptions& options);

    /// In the file's order.
    [[nodiscard]] const std::vector<CocoImage>& images() const { return listing_->images; }
    /// Without the background.
    [[nodiscard]] const std::vector<std::string>& class_names() const { return listing_->class_names; }

    /// One image's truth: labels uint8 [H,W], or 0/1 masks uint8 [K+1,H,W] (CocoOverlap::masks). Thread-safe.
    [[nodiscard]] Array labels(std::size_t image) const;

    struct Listing {
        std::vector<CocoImage> images;
        std::vector<std::string> class_names;
    };
    struct Index;

  private:
    std::shared_ptr<const Index> index_;
    std::shared_ptr<const Listing> listing_;  ///< a part of the index
};

}  // namespace kandinsky
