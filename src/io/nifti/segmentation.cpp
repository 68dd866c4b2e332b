#include <fmt/format.h>

#include "io/file/atomic_file.hpp"
#include "io/nifti/format.hpp"
#include "io/nifti/volume.hpp"
#include "io/zip/deflate.hpp"

namespace kandinsky {

namespace {
/// Escapes text that follows `:=`. NRRD has escapes for backslash and line feed; a carriage return, which may
/// also end a line, becomes a space.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char letter : text)
        if (letter == '\\')
            out += "\\\\";
        else if (letter == '\n')
            out += "\\n";
        else
            out += letter == '\r' ? ' ' : letter;
    return out;
}

/// A column of the affine in NRRD's most common space, whose axes point left, back and up.
std::string vector_of(const NiftiHeader& like, std::size_t column) {
    const auto turned = [&](std::size_t row) { return 0.0 - like.affine[row][column]; };  // never -0
    return fmt::format("({},{},{})", turned(0), turned(1), like.affine[2][column]);
}

std::string header_of(const NiftiHeader& like, const std::vector<Segment>& segments, std::size_t maps) {
    const auto [x, y, z] = like.extent;
    std::string out = fmt::format(
        "NRRD0004\ntype: uint8\ndimension: 4\nspace: left-posterior-superior\nsizes: {} {} {} {}\n"
        "space directions: none {} {} {}\nkinds: list domain domain domain\nencoding: gzip\n"
        "space origin: {}\n",
        maps, x, y, z, vector_of(like, 0), vector_of(like, 1), vector_of(like, 2), vector_of(like, 3));
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto& [map, number, name, colour] = segments[i];
        out += fmt::format("Segment{0}_ID:=Segment_{1}\nSegment{0}_Name:={2}\n", i, i + 1, escaped(name));
        out += fmt::format("Segment{}_Color:={:.6f} {:.6f} {:.6f}\n", i, colour[0] / 255.0, colour[1] / 255.0,
                           colour[2] / 255.0);
        out += fmt::format("Segment{0}_LabelValue:={1}\nSegment{0}_Layer:={2}\n", i, number, map);
        out += fmt::format("Segment{}_Extent:=0 {} 0 {} 0 {}\n", i, x - 1, y - 1, z - 1);
    }
    return out +
           "Segmentation_ContainedRepresentationNames:=Binary labelmap|\n"
           "Segmentation_MasterRepresentation:=Binary labelmap\n"
           "Segmentation_ReferenceImageExtentOffset:=0 0 0\n\n";
}
}  // namespace

void join_label_maps(const std::filesystem::path& folder, const std::string& name,
                     const std::vector<std::string>& maps, const std::vector<Segment>& segments) {
    std::vector<std::byte> mixed;  // [voxel][map]
    NiftiHeader like;
    for (std::size_t map = 0; map < maps.size(); ++map) {
        std::filesystem::path path = folder / (maps[map] + ".nii.gz");
        if (!exists(path)) path = folder / (maps[map] + ".nii");
        if (!exists(path)) return;
        like = read_nifti_header(path);
        const Array values = read_nifti(path);
        const std::size_t voxels = values.view().size();
        mixed.resize(maps.size() * voxels);
        for (std::size_t v = 0; v < voxels; ++v) mixed[v * maps.size() + map] = values.view().data[v];
    }
    AtomicFile file(folder / (name + ".seg.nrrd"));
    file.write(header_of(like, segments, maps.size()));
    GzipWriter packed(file);
    packed.write(mixed);
    packed.finish();
    file.commit();
}

}  // namespace kandinsky
