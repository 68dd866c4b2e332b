// Reads any bytes as a NIfTI volume, plain or gzipped: the header, the voxels, and both as a folder's item.
#include "harness.hpp"
#include "io/nifti/format.hpp"
#include "io/nifti/volume.hpp"

namespace {

using namespace kandinsky;

constexpr std::size_t kMostVoxels = 1 << 16;  // for speed

void read_item(Role role, Axis axis) {
    SourceOptions options;
    options.role = role;
    options.axis = axis;
    const auto source = nifti_format().open({fuzz::kInput}, options);
    const ItemInfo& info = source->items().front();
    if (!info.problem.empty()) return;
    const Array values = source->read(0);
    std::vector<std::size_t> shape{info.slices, info.height, info.width};
    if (info.planes > 0) shape.insert(shape.begin() + 1, info.planes);
    fuzz::check(values.shape() == shape, "a volume has another shape than its header said");
    (void)values.to_vector<float>();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::set_input(fuzz::as_bytes(data, size));
    NiftiHeader header;
    if (!fuzz::result_or_error([&] { header = read_nifti_header(fuzz::kInput); })) return 0;
    fuzz::result_or_error([&] {
        const std::string sets = sets_header(header, 2, DType::uint8);
        const NiftiHeader again = parse_nifti_header(fuzz::as_bytes(sets), "sets");
        fuzz::check(again.extent == header.extent && again.planes == 2, "the sets have another shape");
        fuzz::check(again.orientation.stored == header.orientation.stored &&
                        again.orientation.flipped == header.orientation.flipped,
                    "the sets have other axes");
    });
    if (header.voxels() > kMostVoxels) return 0;
    fuzz::result_or_error([&] {
        const Array stored = read_nifti(fuzz::kInput);
        (void)scaled_values(header, stored, DType::float64).to_vector<double>();
    });
    for (const Axis axis : {Axis::axial, Axis::coronal, Axis::sagittal})
        fuzz::result_or_error([&] { read_item(Role::probabilities, axis); });
    fuzz::result_or_error([&] { read_item(Role::labels, Axis::axial); });
    return 0;
}
