#include "io/zip/npz_shape.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <kandinsky/npz.hpp>
#include <span>

#include "core/base/fail.hpp"
#include "io/array/npy_header.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky {

namespace {
/// The first bytes of a member: of a deflated one as many as `out` takes.
std::size_t first_bytes(std::span<const std::byte> stored, bool deflated, std::span<std::byte> out) {
    if (!deflated) {
        const std::size_t count = std::min(stored.size(), out.size());
        std::memcpy(out.data(), stored.data(), count);
        return count;
    }
    z_stream z{};
    constexpr int kRawWindow = -15;
    if (::inflateInit2(&z, kRawWindow) != Z_OK) fail(ErrorKind::internal, "[npz_shape] zlib does not start");
    constexpr std::size_t kEnough = std::size_t{1} << 20;
    z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stored.data()));
    z.avail_in = static_cast<uInt>(std::min(stored.size(), kEnough));
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    (void)::inflate(&z, Z_SYNC_FLUSH);  // damage shows when the member is read whole
    const std::size_t made = out.size() - z.avail_out;
    ::inflateEnd(&z);
    return made;
}
}  // namespace

NpzShape npz_shape(const std::filesystem::path& path, const std::vector<std::string>& usual_keys) {
    const ZipReader archive(path);
    const std::vector<std::string> names = archive.array_names();
    std::string key = names.size() == 1 ? names.front() : "";
    for (auto usual = usual_keys.rbegin(); usual != usual_keys.rend(); ++usual)
        if (archive.has(*usual + ".npy")) key = *usual;
    if (key.empty())
        fail(ErrorKind::data, "has {} arrays, but none named {}", names.size(), fmt::join(usual_keys, ", "));
    const auto member = std::find_if(archive.members().begin(), archive.members().end(),
                                     [&](const ZipReader::Member& m) { return m.name == key + ".npy"; });
    const MappedFile file = map_file(path);
    if (member->data + member->stored > file.bytes.size()) fail(ErrorKind::data, "changed while it was read");
    std::vector<std::byte> start(4096);
    start.resize(
        first_bytes(file.bytes.subspan(member->data, member->stored), member->compression != 0, start));
    return {key, read_npy_header(start, path.string() + ":" + key).shape};
}

}  // namespace kandinsky
