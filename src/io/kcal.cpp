#include <kandinsky/kcal.hpp>
#include <kandinsky/npz.hpp>

#include "core/fail.hpp"
#include "core/pages.hpp"
#include "core/parallel.hpp"
#include "io/atomic_file.hpp"
#include "io/json_depth.hpp"
#include "io/kcal_meta.hpp"
#include "io/printable.hpp"
#include "io/writers.hpp"
#include "io/zip_writer.hpp"

namespace kandinsky {

namespace {
constexpr const char* kComment = "kandinsky calibrator ";
constexpr std::size_t kMostMeta = std::size_t{64} << 20;
constexpr std::size_t kDeepestMeta = 64;

template <class T>
std::vector<T> read(const ZipReader& archive, const std::string& member, DType dtype,
                    const std::vector<std::size_t>& shape) {
    const Array array = archive.array(member);
    const bool any_length = shape.empty();
    if (array.dtype() != dtype || (any_length ? array.shape().size() != 1 : array.shape() != shape))
        fail(ErrorKind::data, "{}: member {} has an unexpected type or shape ({} {})",
             archive.path().string(), member, name_of(array.dtype()), array.view().shape_text());
    return array.to_vector<T>();
}
}  // namespace

void save(const Calibrator& calibrator, AtomicFile& file) {
    const std::size_t strata = calibrator.strata();
    const std::vector<std::size_t> map_shape{strata, calibrator.grid.height, calibrator.grid.width};
    const Ladder& ladder = calibrator.curves.front().ladder();
    std::vector<std::uint64_t> first{0};
    for (const CurveSet& set : calibrator.curves) first.push_back(first.back() + set.size());
    std::vector<std::uint32_t> regions;
    for (const Partition& partition : calibrator.partitions)
        regions.insert(regions.end(), partition.region.begin(), partition.region.end());
    std::vector<std::uint8_t> levels;
    for (const CurveLevel level : calibrator.levels) levels.push_back(static_cast<std::uint8_t>(level));

    ZipWriter zip(file);
    const std::string meta = meta_of(calibrator).dump(2) + "\n";
    zip.add("meta.json", std::as_bytes(std::span(meta)));
    const auto add = [&](const std::string& name, const auto& values, const std::vector<std::size_t>& shape) {
        using Element = typename std::remove_cvref_t<decltype(values)>::value_type;
        const DType dtype = dtype_of<Element>();
        zip.add_array(
            name, {reinterpret_cast<const std::byte*>(values.data()), dtype, shape, c_strides(shape, dtype)});
    };
    add("levels", ladder.levels, {ladder.levels.size()});
    add("regions", regions, map_shape);
    add("counts", calibrator.counts, map_shape);
    add("curve_level", levels, map_shape);
    add("first_curve", first, {first.size()});
    std::vector<std::uint64_t> offsets{0};
    for (const CurveSet& set : calibrator.curves) {
        const std::uint64_t base = offsets.back();
        for (std::size_t i = 1; i < set.storage().offsets.size(); ++i)
            offsets.push_back(base + set.storage().offsets[i]);
    }
    add("curve_offsets", offsets, {offsets.size()});
    // Curves of all strata one after the other, as they lie: those of every pixel are too large to copy.
    const auto add_all = [&](const std::string& name, const auto& of_set) {
        using Element = typename std::remove_cvref_t<decltype(of_set(calibrator.curves.front()))>::value_type;
        std::vector<std::span<const std::byte>> pieces;
        std::size_t size = 0;
        for (const CurveSet& set : calibrator.curves) {
            pieces.push_back(std::as_bytes(std::span(of_set(set))));
            size += of_set(set).size();
        }
        zip.add_pieces(name, dtype_of<Element>(), {size}, pieces);
    };
    add_all(
        "curve_scores", [](const CurveSet& set) -> const auto& { return set.storage().scores; });
    add_all(
        "curve_groups", [](const CurveSet& set) -> const auto& { return set.storage().groups; });
    add_all(
        "curve_complete", [](const CurveSet& set) -> const auto& { return set.storage().complete; });
    add_all(
        "curve_values", [](const CurveSet& set) -> const auto& { return set.storage().values; });
    zip.finish(kComment, true);
}

void save(const Calibrator& calibrator, const std::filesystem::path& path) {
    AtomicFile file(path);
    save(calibrator, file);
    file.commit();
}

Calibrator load(const std::filesystem::path& path) {
    const std::string name = printable(path.string(), 4096);
    const ZipReader archive(path);
    if (!archive.has("meta.json")) fail(ErrorKind::data, "{} is not a calibrator: it has no meta.json", name);
    for (const ZipReader::Member& member : archive.members())
        if (member.name == "meta.json" && member.size > kMostMeta)
            fail(ErrorKind::data, "{}: meta.json is too large", name);
    const Array text = archive.bytes("meta.json");
    const char* const begin = text.data_as<char>();
    if (nests_deeper({begin, text.view().size()}, kDeepestMeta))
        fail(ErrorKind::data, "{}: meta.json nests deeper than {}", name, kDeepestMeta);
    const auto meta = nlohmann::ordered_json::parse(begin, begin + text.view().size(), nullptr, false);
    if (meta.is_discarded()) fail(ErrorKind::data, "{}: meta.json is damaged", name);
    Calibrator calibrator = from_meta(meta, name);
    if (!archive.has_checksum() || !archive.checksum_ok())
        fail(ErrorKind::data,
             "{} is damaged: its checksum does not match; calibrate again or restore the file", name);

    const std::size_t strata = calibrator.strata(), pixels = calibrator.grid.pixels();
    const std::vector<std::size_t> map_shape{strata, calibrator.grid.height, calibrator.grid.width};
    const auto regions = read<std::uint32_t>(archive, "regions", DType::uint32, map_shape);
    calibrator.counts = read<std::uint32_t>(archive, "counts", DType::uint32, map_shape);
    const auto levels = read<std::uint8_t>(archive, "curve_level", DType::uint8, map_shape);
    const auto first = read<std::uint64_t>(archive, "first_curve", DType::uint64, {strata + 1});
    CurveSet::Storage all;
    const Array values = archive.array("curve_values");
    if (values.dtype() != DType::float32 || values.shape().size() != 1 || !values.view().is_c_contiguous())
        fail(ErrorKind::data, "{}: member curve_values has an unexpected type or shape ({} {})", name,
             name_of(values.dtype()), values.view().shape_text());
    all.offsets = read<std::uint64_t>(archive, "curve_offsets", DType::uint64, {});
    all.scores = read<std::uint64_t>(archive, "curve_scores", DType::uint64, {});
    all.groups = read<std::uint64_t>(archive, "curve_groups", DType::uint64, {});
    all.complete = read<std::uint8_t>(archive, "curve_complete", DType::uint8, {});
    const Ladder ladder{read<double>(archive, "levels", DType::float64, {})};
    const bool fallback = calibrator.options.fallback == Fallback::image;
    for (std::size_t i = 0; i < ladder.levels.size(); ++i)
        if (!(ladder.levels[i] >= (i == 0 ? 0.0 : ladder.levels[i - 1]) && ladder.levels[i] <= 1))
            fail(ErrorKind::data, "{} is damaged: its levels do not ascend from 0 to 1", name);
    try {
        calibrator.curves.resize(strata);
        for (std::size_t s = 0; s < strata; ++s) {
            Partition& partition = calibrator.partitions[s];
            partition.region.assign(regions.begin() + static_cast<std::ptrdiff_t>(s * pixels),
                                    regions.begin() + static_cast<std::ptrdiff_t>((s + 1) * pixels));
            const std::uint64_t wanted = partition.regions + (fallback ? 1 : 0);
            if (first[s] > first[s + 1] || first[s + 1] > all.scores.size() ||
                first[s + 1] - first[s] != wanted || all.offsets.size() != all.scores.size() + 1 ||
                all.groups.size() != all.scores.size() || all.complete.size() != all.scores.size())
                fail(ErrorKind::data, "stratum {} has the wrong number of curves", s);
            for (std::size_t p = 0; p < pixels; ++p)
                if (partition.region[p] >= partition.regions || levels[s * pixels + p] > 2 ||
                    (levels[s * pixels + p] == 1 && !fallback))
                    fail(ErrorKind::data, "a pixel of stratum {} refers to a curve that is not there", s);
            CurveSet::Storage own;
            own.offsets.clear();
            const std::uint64_t base = all.offsets[first[s]];
            for (std::uint64_t k = first[s]; k <= first[s + 1]; ++k) {
                if (all.offsets[k] < base || all.offsets[k] > values.view().size())
                    fail(ErrorKind::data, "curve {} lies outside the values", k);
                own.offsets.push_back(all.offsets[k] - base);
            }
            const auto slice = [&](const auto& from, auto& to, std::uint64_t from_index,
                                   std::uint64_t to_index) {
                to.assign(from.begin() + static_cast<std::ptrdiff_t>(from_index),
                          from.begin() + static_cast<std::ptrdiff_t>(to_index));
            };
            const std::size_t count = all.offsets[first[s + 1]] - base;
            own.values.reserve(count);
            prefer_large_pages(own.values.data(), count * sizeof(float));
            own.values.resize(count);
            constexpr std::size_t kPiece = std::size_t{1} << 20;
            parallel_for((count + kPiece - 1) / kPiece, [&](std::size_t i) {
                std::copy_n(values.data_as<float>() + base + i * kPiece, std::min(kPiece, count - i * kPiece),
                            own.values.data() + i * kPiece);
            });
            slice(all.scores, own.scores, first[s], first[s + 1]);
            slice(all.groups, own.groups, first[s], first[s + 1]);
            slice(all.complete, own.complete, first[s], first[s + 1]);
            calibrator.curves[s] =
                CurveSet::from_storage(ladder, calibrator.options.released, std::move(own));
        }
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", name, problem.what());
    }
    for (const std::uint8_t level : levels) calibrator.levels.push_back(static_cast<CurveLevel>(level));
    return calibrator;
}

std::string describe(const Calibrator& calibrator) {
    return meta_of(calibrator).dump(2);
}

}  // namespace kandinsky
