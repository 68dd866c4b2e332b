#include <algorithm>
#include <cmath>
#include <kandinsky/reference.hpp>
#include <numeric>

#include "io/file/printable.hpp"
#include "io/kcal/kcal.hpp"
#include "io/kcal/kcal_arrays.hpp"

namespace kandinsky {

namespace {
/// Reads the shortfalls, which come from labels; files of earlier versions have none.
void read_shortfalls(const ZipReader& archive, Reference& to) {
    constexpr std::size_t kMostLabelled = 32;
    to.labelled = read_member<std::uint32_t>(archive, "reference_labelled", {});
    const auto units = read_member<std::uint32_t>(archive, "reference_shortfall_units", {});
    const auto values = read_member<float>(archive, "reference_shortfalls", {});
    if (to.labelled.empty() || to.labelled.size() > kMostLabelled ||
        units.size() != to.labelled.size() * Reference::kShares.size() ||
        std::accumulate(units.begin(), units.end(), std::uint64_t{0}) != values.size())
        fail(ErrorKind::data, "the shortfalls of its reference have an unexpected shape");
    auto from = values.begin();
    for (const std::uint32_t count : units) {
        to.shortfalls.emplace_back(from, from + count);
        from += count;
        const std::vector<float>& own = to.shortfalls.back();
        if (!std::is_sorted(own.begin(), own.end()) ||
            !std::all_of(own.begin(), own.end(), [](float value) { return std::isfinite(value); }))
            fail(ErrorKind::data, "the shortfalls of its reference do not ascend");
    }
}
}  // namespace

std::optional<Reference> load_reference(const std::filesystem::path& path) {
    constexpr std::uint32_t kMostBlocks = 64;
    constexpr std::size_t kMostClasses = 4096;
    const ZipReader archive(path);
    if (!archive.has("reference_values.npy")) return std::nullopt;
    try {
        if (!archive.checksum_ok()) fail(ErrorKind::data, "its checksum does not match");
        const auto layout = read_member<std::uint32_t>(archive, "reference_layout", {});
        Reference out;
        if (layout.size() < 2 || layout.size() > kMostClasses + 1 || layout.front() > kMostBlocks)
            fail(ErrorKind::data, "the layout of its reference is inconsistent");
        out.blocks = layout.front();
        out.classes.assign(layout.begin() + 1, layout.end());
        const Array values = archive.array("reference_values");
        if (values.shape().size() != 2 || values.shape()[0] != out.features() || values.shape()[1] == 0)
            fail(ErrorKind::data, "its reference has an unexpected shape");
        out.units = values.shape()[1];
        out.values = read_member<float>(archive, "reference_values", {out.features(), out.units});
        for (std::size_t i = 0; i < out.values.size(); ++i)
            if (!std::isfinite(out.values[i]) || (i % out.units > 0 && out.values[i] < out.values[i - 1]))
                fail(ErrorKind::data, "its reference does not ascend");
        if (archive.has("reference_labelled.npy")) read_shortfalls(archive, out);
        return out;
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", printable(path.string(), 4096), problem.what());
    }
}

}  // namespace kandinsky
