#include "core/base/fail.hpp"
#include "io/jpeg/jpeg.hpp"

namespace kandinsky {

Array decode_jpeg(std::span<const std::byte> /*bytes*/, const std::string& name) {
    fail(ErrorKind::usage,
         "cannot read {}: this build has no JPEG reader; install libturbojpeg0-dev (Debian), then configure "
         "and build again",
         name);
}

}  // namespace kandinsky
