#pragma once

#include "io/coco/coco.hpp"
#include "io/file/mapped_file.hpp"
#include "io/json/json_outline.hpp"

namespace kandinsky {

namespace coco {
/// An annotation of a selected category. The outline's bytes are those of the mapped file.
struct Annotation {
    std::int64_t id = 0;
    TextRange outline;
    std::uint32_t image = 0;
    std::uint16_t klass = 0;  ///< from 1
    bool crowd = false;
};
}  // namespace coco

/// Everything known about a file; made once, then only read.
struct CocoFile::Index {
    std::string name;  ///< in messages
    MappedFile file;
    CocoOptions options;
    std::vector<CocoImage> images;
    std::vector<std::string> class_names;
    std::vector<coco::Annotation> annotations;  ///< by image, then in the file's order
    std::vector<std::size_t> first;             ///< image -> its first annotation; one more than images
};

}  // namespace kandinsky
