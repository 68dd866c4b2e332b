#include "core/base/fail.hpp"
#include "io/coco/coco.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

struct CocoFile::Index {
    std::vector<CocoImage> images;
    std::vector<std::string> names;
};

CocoFile::CocoFile(const std::filesystem::path& path, const CocoOptions& /*options*/) {
    fail(ErrorKind::usage,
         "cannot read {}: this build has no COCO reader; install libsimdjson-dev (Debian), then configure "
         "and build again",
         printable(path.string()));
}

// Never reached, since there is no object to call them on.
const std::vector<CocoImage>& CocoFile::images() const {
    return index_->images;
}
const std::vector<std::string>& CocoFile::class_names() const {
    return index_->names;
}
Array CocoFile::labels(std::size_t /*image*/) const {
    return {};
}

}  // namespace kandinsky
