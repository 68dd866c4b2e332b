#include "core/base/fail.hpp"
#include "io/coco/coco.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

CocoFile::CocoFile(const std::filesystem::path& path, const CocoOptions& /*options*/) {
    fail(ErrorKind::usage,
         "cannot read {}: this build has no COCO reader; install libsimdjson-dev (Debian), then configure "
         "and build again",
         printable(path.string()));
}

Array CocoFile::labels(std::size_t /*image*/) const {
    return {};  // never reached, since there is no object to call it on
}

}  // namespace kandinsky
