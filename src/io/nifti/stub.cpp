#include "core/base/fail.hpp"
#include "io/nifti/format.hpp"

namespace kandinsky {

namespace {
[[noreturn]] void refuse() {
    fail(ErrorKind::usage, "this build cannot read NIfTI: install libnifti-dev and build again");
}
}  // namespace

FolderFormat nifti_format() {
    return {"NIfTI",
            {".nii.gz", ".nii"},
            [](const std::vector<std::filesystem::path>&,
               const SourceOptions&) -> std::unique_ptr<ImageSource> { refuse(); }};
}

std::optional<GeometryReference> nifti_geometry(const std::filesystem::path&) {
    return std::nullopt;
}

void write_nifti_sets(const GeometryReference&, const SourceOptions&, const ItemInfo&, const ItemSets&,
                      const std::filesystem::path&) {
    refuse();
}

void join_label_maps(const std::filesystem::path&, const std::string&, const std::vector<std::string>&,
                     const std::vector<Segment>&) {}

}  // namespace kandinsky
