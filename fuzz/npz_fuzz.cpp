// Reads any bytes as a zip archive of arrays, with its own and with corrected checksums.
#include <kandinsky/npz.hpp>

#include "harness.hpp"
#include "io/zip/zip_reader.hpp"
#include "zip_repair.hpp"

namespace {

using namespace kandinsky;

void read_everything() {
    const ZipReader archive(fuzz::kInput);
    (void)archive.checksum_ok();
    std::uint64_t total = 0;
    for (const ZipReader::Member& member : archive.members()) {
        fuzz::check(archive.has(member.name), "a member cannot be found by its name");
        total += member.size;
        if (total > (std::uint64_t{1} << 20)) break;  // for speed
        fuzz::result_or_error([&] {
            fuzz::check(archive.bytes(member.name).view().size() == member.size, "a member of another size");
        });
    }
    if (total > (std::uint64_t{1} << 20)) return;
    for (const std::string& name : archive.array_names())
        fuzz::result_or_error([&] { (void)archive.array(name).to_vector<float>(); });
    fuzz::result_or_error([&] { (void)read_npz(fuzz::kInput); });
    fuzz::result_or_error([&] { (void)read_npz(fuzz::kInput, "b"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = fuzz::as_bytes(data, size);
    fuzz::set_input(bytes);
    fuzz::result_or_error(read_everything);
    const std::string repaired = fuzz::with_right_checksums({reinterpret_cast<const char*>(data), size});
    fuzz::set_input(fuzz::as_bytes(repaired));
    fuzz::result_or_error(read_everything);
    return 0;
}
