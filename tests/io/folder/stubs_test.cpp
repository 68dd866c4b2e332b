// The behaviour of formats whose library is missing. Such builds leave out the tests of the format's own
// folder.
#include <gtest/gtest.h>

#include "io/coco/coco.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/png/png.hpp"
#include "io/support.hpp"
#include "support/formats.hpp"

namespace kandinsky {
namespace {

using test::expect_error;

TEST(CocoStub, NamesThePackage) {
    if (test::has_format("coco")) GTEST_SKIP() << "skipped: this build has simdjson";
    expect_error(ErrorKind::usage, {"a.json", "libsimdjson-dev"}, [] { (void)CocoFile("a.json", {}); });
}

TEST(PngStub, NamesThePackage) {
    if (test::has_format("png")) GTEST_SKIP() << "skipped: this build has libspng";
    expect_error(ErrorKind::usage, {"a.png", "libspng-dev"}, [] { (void)read_png("a.png", Role::labels); });
    expect_error(ErrorKind::usage, {"a.png", "libspng-dev"},
                 [] { (void)read_png("a.png", Role::probabilities); });
    expect_error(ErrorKind::usage, {"a.png", "libspng-dev"}, [] { (void)decode_png_photo({}, "a.png"); });
}

TEST(JpegStub, NamesThePackage) {
    if (test::has_format("jpeg")) GTEST_SKIP() << "skipped: this build has libturbojpeg";
    expect_error(ErrorKind::usage, {"a.jpg", "libturbojpeg0-dev"}, [] { (void)decode_jpeg({}, "a.jpg"); });
}

}  // namespace
}  // namespace kandinsky
