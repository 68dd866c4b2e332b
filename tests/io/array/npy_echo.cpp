// npy_echo IN.npy|IN.npz[:KEY] OUT.npy|OUT.npz[:zip64]: reads an array and writes it again, for the
// comparison with numpy. Pairs may repeat. Prints the message of an Error and exits with its code.
#include <cstdio>
#include <kandinsky/error.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>
#include <string>

#include "io/zip/zip_writer.hpp"

namespace {

using namespace kandinsky;

Array read(const std::string& from) {
    const std::size_t at = from.rfind(".npz");
    if (at == std::string::npos) return read_npy(from);
    const std::string key = from.substr(at + 4);
    return read_npz(from.substr(0, at + 4), key.empty() ? key : key.substr(1));
}

void write(const std::string& to, const ArrayView& view) {
    const std::size_t at = to.rfind(".npz");
    if (at == std::string::npos) return write_npy(to, view);
    AtomicFile file(to.substr(0, at + 4));
    ZipWriter zip(file, to.ends_with(":zip64") ? zip::Format64::always : zip::Format64::when_needed);
    zip.add_array("array", view);
    zip.add_array("\xC3\xA4", view);  // a name outside ASCII
    zip.finish("made by a test ", true);
    file.commit();
}

}  // namespace

int main(int count, char** arguments) {
    for (int i = 1; i + 1 < count; i += 2) {
        try {
            write(arguments[i + 1], read(arguments[i]).view());
        } catch (const Error& error) {
            std::fprintf(stderr, "%s\n", error.what());
            return static_cast<int>(error.kind());
        }
    }
    return 0;
}
