#pragma once

#include <filesystem>
#include <kandinsky/array.hpp>

namespace kandinsky {

/// The meaning of annotations that mark a crowd as a whole (iscrowd = 1).
enum class CocoCrowd {
    object,  ///< pixels of their class, as in the code that the paper's authors released
    ignore,  ///< pixels of no class (label 255), unless an object covers them too
};

/// The meaning of pixels that objects of several selected categories cover.
enum class CocoOverlap {
    ignore,  ///< no class (label 255), because the truth is undecided there
    masks,   ///< every one of those classes; the truth is then 0/1 masks, one per class
};

struct CocoOptions {
    /// The categories to read, by name or by id. Class k is the k-th of them; class 0 is everything else.
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

/// The instance annotations of a COCO JSON file, reduced to some categories. The file stays mapped, and about
/// 50 bytes are kept for each image and each annotation of those categories; outlines are read from the file
/// when an image's labels are requested. Copies share all data. Keys may be in any order. An error in the
/// content is one line of kind `data` that names the file and the annotation's (or image's) id or its byte;
/// unsuitable options are errors of kind `usage`.
class CocoFile {
  public:
    CocoFile(const std::filesystem::path& path, const CocoOptions& options);

    /// The images in the file's order.
    [[nodiscard]] const std::vector<CocoImage>& images() const { return listing_->images; }
    /// The names of the classes from 1 on; class 0, the background, has none.
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
