#include "io/kcal/kcal.hpp"
#include "curve/curve_storage.hpp"
#include "io/zip/zip_reader.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/reference.hpp>
#include <numeric>

#include "core/base/attempt.hpp"
#include "core/base/fail.hpp"
#include "core/base/pages.hpp"
#include "core/base/parallel.hpp"
#include "curve/lattice.hpp"
#include "io/array/npy.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/json/json_outline.hpp"
#include "io/zip/zip_writer.hpp"

namespace kandinsky {

namespace {
constexpr const char* kComment = "kandinsky calibrator ";
constexpr std::size_t kMostMeta = std::size_t{64} << 20;

/// Writes arrays as members of an archive.
class ArrayWriter {
  public:
    explicit ArrayWriter(ZipWriter& zip) : zip_(zip) {}

    template <class T>
    void add(const std::string& name, const std::vector<T>& values, const std::vector<std::size_t>& shape) {
        const DType dtype = dtype_of<T>();
        zip_.add_array(
            name, {reinterpret_cast<const std::byte*>(values.data()), dtype, shape, c_strides(shape, dtype)});
    }
    /// An array of the smallest unsigned type that can store all numbers.
    void add_narrow(const std::string& name, const std::vector<std::uint32_t>& values,
                    const std::vector<std::size_t>& shape) {
        const std::uint32_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
        const DType dtype = most <= 0xFF ? DType::uint8 : most <= 0xFFFF ? DType::uint16 : DType::uint32;
        zip_.add_array(name, narrowed(values, shape, dtype).view());
    }
    /// Writes the arrays of all parts as one array, without joining them in memory, because they are large.
    template <class Part, class Storage, class Values>
    void add_all(const std::string& name, const std::vector<Part>& parts, Values Storage::*array) {
        std::vector<std::span<const std::byte>> pieces;
        std::size_t size = 0;
        for (const Part& part : parts) {
            const Values& values = storage_of(part).*array;
            pieces.push_back(std::as_bytes(std::span(values)));
            size += values.size();
        }
        zip_.add_pieces(name, dtype_of<typename Values::value_type>(), {size}, pieces);
    }

  private:
    ZipWriter& zip_;
};

void write_curves(ArrayWriter& to, const std::vector<CurveSet>& curves) {
    std::vector<std::uint64_t> first{0}, offsets{0};
    for (const CurveSet& set : curves) {
        first.push_back(first.back() + set.size());
        const std::uint64_t base = offsets.back();
        for (std::size_t i = 1; i < storage_of(set).offsets.size(); ++i)
            offsets.push_back(base + storage_of(set).offsets[i]);
    }
    to.add("first_curve", first, {first.size()});
    to.add("curve_offsets", offsets, {offsets.size()});
    to.add_all("curve_scores", curves, &CurveStorage::scores);
    to.add_all("curve_groups", curves, &CurveStorage::groups);
    to.add_all("curve_complete", curves, &CurveStorage::complete);
    to.add_all("curve_values", curves, &CurveStorage::values);
}

void write_smooth(ArrayWriter& to, const std::vector<SmoothCurves>& curves) {
    if (std::all_of(curves.begin(), curves.end(), [](const SmoothCurves& one) { return one.empty(); }))
        return;
    to.add_all("smooth_edges", curves, &SmoothStorage::edges);
    to.add_all("smooth_levels", curves, &SmoothStorage::levels);
    to.add_all("smooth_cumulative", curves, &SmoothStorage::cumulative);
}

/// The length of a shift's row: its stratum; the slopes, the lowest and the highest values of all features;
/// the constant.
constexpr std::size_t shift_numbers(std::size_t features) {
    return 3 * features + 2;
}

}  // namespace

std::size_t stored_features(const Calibrator& calibrator) {
    for (const Adaptation& own : calibrator.adaptations)
        for (const Adaptation::Shift& one : own.shifts())
            for (std::size_t k = ImageFeatures::kBasic; k < ImageFeatures::kCount; ++k)
                if (one.slope[k] != 0 || one.low[k] != 0 || one.high[k] != 0) return ImageFeatures::kCount;
    return ImageFeatures::kBasic;
}

namespace {
void write_adaptations(ArrayWriter& to, const Calibrator& calibrator) {
    if (!calibrator.adapts()) return;
    const std::size_t features = stored_features(calibrator), numbers = shift_numbers(features);
    std::vector<double> shifts;
    std::vector<std::int32_t> levels;
    std::int32_t step = 1;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const Adaptation& own = calibrator.adaptations[s];
        if (own.empty()) continue;
        for (const Adaptation::Shift& one : own.shifts()) {
            shifts.push_back(static_cast<double>(s));
            for (const auto* part : {&one.slope, &one.low, &one.high})
                shifts.insert(shifts.end(), part->begin(), part->begin() + features);
            shifts.push_back(one.constant);
        }
        levels.insert(levels.end(), own.levels().begin(), own.levels().end());
        step = own.step();
    }
    if (step != 1) to.add("adapt_step", std::vector<std::int32_t>{step}, {1});
    to.add("adapt_shifts", shifts, {shifts.size() / numbers, numbers});
    to.add("adapt_levels", levels, {levels.size()});
}

void write_reference(ArrayWriter& to, const Reference& reference) {
    std::vector<std::uint32_t> layout{reference.blocks};
    layout.insert(layout.end(), reference.classes.begin(), reference.classes.end());
    to.add("reference_layout", layout, {layout.size()});
    to.add("reference_values", reference.values, {reference.features(), reference.units});
    if (reference.labelled.empty()) return;
    std::vector<std::uint32_t> sizes;
    std::vector<float> shortfalls;
    for (const std::vector<float>& own : reference.shortfalls) {
        sizes.push_back(static_cast<std::uint32_t>(own.size()));
        shortfalls.insert(shortfalls.end(), own.begin(), own.end());
    }
    to.add("reference_labelled", reference.labelled, {reference.labelled.size()});
    to.add("reference_shortfall_units", sizes, {sizes.size()});
    to.add("reference_shortfalls", shortfalls, {shortfalls.size()});
}

/// Writes the arrays of a calibrator that guarantees precision: the least alphas, and the rungs at which
/// curves are read.
void write_risks(ArrayWriter& to, const Calibrator& calibrator) {
    if (calibrator.risks.empty()) return;
    std::vector<double> least;
    std::vector<std::uint32_t> rungs;
    for (const RiskLevels& one : calibrator.risks) {
        least.push_back(one.least_alpha);
        rungs.insert(rungs.end(), one.rungs.begin(), one.rungs.end());
    }
    to.add("risk_alphas", least, {least.size()});
    if (!rungs.empty()) to.add("risk_rungs", rungs, {least.size(), rungs.size() / least.size()});
}

/// An array of a given type and shape; an empty shape accepts any length.
template <class T>
std::vector<T> read(const ZipReader& archive, const std::string& member,
                    const std::vector<std::size_t>& shape,
                    const std::vector<DType>& dtypes = {dtype_of<T>()}) {
    const Array array = archive.array(member);
    if (std::find(dtypes.begin(), dtypes.end(), array.dtype()) == dtypes.end() ||
        (shape.empty() ? array.shape().size() != 1 : array.shape() != shape))
        fail(ErrorKind::data, "{}: member {} has an unexpected type or shape ({} {})",
             archive.path().string(), member, name_of(array.dtype()), array.view().shape_text());
    return array.to_vector<T>();
}

std::vector<std::uint32_t> read_narrow(const ZipReader& archive, const std::string& member,
                                       const std::vector<std::size_t>& shape) {
    return read<std::uint32_t>(archive, member, shape, {DType::uint8, DType::uint16, DType::uint32});
}

/// Curves of all strata, one after the other.
class StoredCurves {
  public:
    StoredCurves(const ZipReader& archive, std::size_t strata)
        : values_(archive.array("curve_values")),
          first_(read<std::uint64_t>(archive, "first_curve", {strata + 1})),
          offsets_(read<std::uint64_t>(archive, "curve_offsets", {})),
          scores_(read<std::uint64_t>(archive, "curve_scores", {})),
          groups_(read<std::uint64_t>(archive, "curve_groups", {})),
          complete_(read<std::uint8_t>(archive, "curve_complete", {})) {
        if (values_.dtype() != DType::float32 || values_.shape().size() != 1 ||
            !values_.view().is_c_contiguous())
            fail(ErrorKind::data, "{}: member curve_values has an unexpected type or shape ({} {})",
                 archive.path().string(), name_of(values_.dtype()), values_.view().shape_text());
    }

    [[nodiscard]] CurveSet of(std::size_t stratum, std::uint64_t wanted, const Ladder& ladder,
                              bool released) const {
        const std::uint64_t first = first_[stratum], last = first_[stratum + 1];
        if (first > last || last > scores_.size() || last - first != wanted ||
            offsets_.size() != scores_.size() + 1 || groups_.size() != scores_.size() ||
            complete_.size() != scores_.size())
            fail(ErrorKind::data, "stratum {} has the wrong number of curves", stratum);
        CurveStorage own;
        own.offsets.clear();
        const std::uint64_t base = offsets_[first];
        for (std::uint64_t k = first; k <= last; ++k) {
            if (offsets_[k] < base || offsets_[k] > values_.view().size())
                fail(ErrorKind::data, "curve {} lies outside the values", k);
            own.offsets.push_back(offsets_[k] - base);
        }
        const auto slice = [&](const auto& from, auto& to) {
            to.assign(from.begin() + static_cast<std::ptrdiff_t>(first),
                      from.begin() + static_cast<std::ptrdiff_t>(last));
        };
        const std::size_t count = offsets_[last] - base;
        own.values.reserve(count);
        prefer_large_pages(own.values.data(), count * sizeof(float));
        own.values.resize(count);
        constexpr std::size_t kPiece = std::size_t{1} << 20;
        parallel_for((count + kPiece - 1) / kPiece, [&](std::size_t i) {
            std::copy_n(values_.data_as<float>() + base + i * kPiece, std::min(kPiece, count - i * kPiece),
                        own.values.data() + i * kPiece);
        });
        slice(scores_, own.scores);
        slice(groups_, own.groups);
        slice(complete_, own.complete);
        return curves_from(ladder, released, std::move(own));
    }

  private:
    Array values_;
    std::vector<std::uint64_t> first_, offsets_, scores_, groups_;
    std::vector<std::uint8_t> complete_;
};

/// Reads the smooth curves of the strata that have them; the others stay empty.
std::vector<SmoothCurves> read_smooth(const ZipReader& archive, const Grid& grid, const Ladder& ladder,
                                      std::vector<std::optional<SmoothStorage>> stored) {
    std::vector<SmoothCurves> out(stored.size());
    if (std::none_of(stored.begin(), stored.end(), [](const auto& one) { return one.has_value(); }))
        return out;
    const auto edges = read<std::int32_t>(archive, "smooth_edges", {});
    const auto levels = read<std::uint32_t>(archive, "smooth_levels", {});
    const auto cumulative = read<std::uint16_t>(archive, "smooth_cumulative", {});
    const auto with_regions = static_cast<std::size_t>(std::count_if(
        stored.begin(), stored.end(), [](const auto& one) { return one && !one->region.empty(); }));
    std::vector<std::uint32_t> regions;
    if (with_regions > 0)
        regions = read_narrow(archive, "smooth_regions", {with_regions, grid.height, grid.width});
    std::size_t edge = 0, level = 0, value = 0, region = 0;
    const auto take = [](const auto& from, std::size_t& place, std::size_t count, auto& to) {
        if (count > from.size() - place) fail(ErrorKind::data, "an array of the smooth curves is too short");
        to.assign(from.begin() + static_cast<std::ptrdiff_t>(place),
                  from.begin() + static_cast<std::ptrdiff_t>(place + count));
        place += count;
    };
    for (std::size_t s = 0; s < stored.size(); ++s) {
        if (!stored[s]) continue;
        SmoothStorage& own = *stored[s];
        const std::size_t bins = own.edges.size();
        if (own.side < 1 || own.side > SmoothCurves::kLargestSide)
            fail(ErrorKind::data, "the cells of stratum {} have a side of {} pixels", s, own.side);
        take(edges, edge, bins, own.edges);
        std::size_t cells = lattice_of(grid, own.side).pixels();
        if (!own.region.empty()) {
            take(regions, region, grid.pixels(), own.region);
            cells = std::size_t{*std::max_element(own.region.begin(), own.region.end())} + 1;
            if (cells > grid.pixels()) fail(ErrorKind::data, "the regions of stratum {} are too many", s);
        }
        if (bins > 0) {
            take(levels, level, ladder.levels.size(), own.levels);
            take(cumulative, value, cells * (bins - 1), own.cumulative);
        }
        out[s] = smooth_from(grid, ladder, std::move(own));
    }
    if (edge != edges.size() || level != levels.size() || value != cumulative.size())
        fail(ErrorKind::data, "an array of the smooth curves is too long");
    return out;
}
/// Reads how the levels of strata follow the image; empty if the file does not contain this.
std::vector<Adaptation> read_adaptations(const ZipReader& archive, const Calibrator& calibrator,
                                         std::size_t rungs) {
    if (!archive.has("adapt_shifts.npy")) return {};
    const Array array = archive.array("adapt_shifts");
    const std::size_t columns = array.shape().size() == 2 ? array.shape()[1] : 0;
    // Files up to version 5 have the first features only; the others then have no effect.
    std::size_t features = ImageFeatures::kCount;
    if (columns == shift_numbers(ImageFeatures::kBasic)) features = ImageFeatures::kBasic;
    if (columns != shift_numbers(features) || array.dtype() != DType::float64)
        fail(ErrorKind::data, "the shifts of the levels have an unexpected type or shape");
    const std::vector<double> numbers = array.to_vector<double>();
    const auto levels = read<std::int32_t>(archive, "adapt_levels", {});
    const std::int32_t step =
        archive.has("adapt_step.npy") ? read<std::int32_t>(archive, "adapt_step", {1}).front() : 1;
    std::vector<std::vector<Adaptation::Shift>> shifts(calibrator.strata());
    for (const double* at = numbers.data(); at != numbers.data() + numbers.size(); at += columns) {
        std::size_t s = 0;
        while (s < shifts.size() && static_cast<double>(s) != *at) ++s;
        if (s == shifts.size() || calibrator.smooth_of(s) == nullptr)
            fail(ErrorKind::data, "a shift of the levels belongs to no stratum");
        Adaptation::Shift& one = shifts[s].emplace_back();
        const double* from = at + 1;
        for (auto* part : {&one.slope, &one.low, &one.high}) {
            std::copy_n(from, features, part->begin());
            from += features;
        }
        one.constant = *from;
        one.step = step;
    }
    std::vector<Adaptation> out;
    std::size_t next = 0;
    for (std::vector<Adaptation::Shift>& own : shifts) {
        if (own.empty()) {
            out.emplace_back();
            continue;
        }
        if (rungs > levels.size() - next) fail(ErrorKind::data, "the levels of the adaptation are too few");
        const auto first = levels.begin() + static_cast<std::ptrdiff_t>(next);
        out.emplace_back(std::move(own), std::vector(first, first + static_cast<std::ptrdiff_t>(rungs)));
        next += rungs;
    }
    if (next != levels.size()) fail(ErrorKind::data, "the levels of the adaptation are too many");
    return out;
}

/// The arrays of a calibrator with a guarantee of precision; empty for others.
std::vector<RiskLevels> read_risks(const ZipReader& archive, const Calibrator& calibrator,
                                   std::size_t rungs) {
    if (calibrator.options.risk == Risk::recall) return {};
    const std::size_t strata = calibrator.strata();
    const auto least = read<double>(archive, "risk_alphas", {strata});
    std::vector<RiskLevels> out(strata);
    for (std::size_t s = 0; s < strata; ++s) {
        if (!(least[s] >= 0)) fail(ErrorKind::data, "the least alpha of stratum {} is not a number", s);
        out[s].least_alpha = least[s];
    }
    if (calibrator.options.risk != Risk::precision) return out;
    const auto numbers = read<std::uint32_t>(archive, "risk_rungs", {strata, rungs});
    for (std::size_t s = 0; s < strata; ++s) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(s * rungs);
        out[s].rungs.assign(first, first + static_cast<std::ptrdiff_t>(rungs));
        for (std::size_t k = 0; k < rungs; ++k)
            if (out[s].rungs[k] != RiskLevels::kNone && out[s].rungs[k] >= rungs)
                fail(ErrorKind::data, "stratum {} is read at a rung that does not exist", s);
    }
    return out;
}
}  // namespace

namespace {
void write(const Calibrator& calibrator, AtomicFile& file, const Reference* reference) {
    const Grid grid = calibrator.grid;
    const std::vector<std::size_t> map_shape{calibrator.strata(), grid.height, grid.width};
    const Ladder& ladder = calibrator.curves.front().ladder();
    // Smooth curves on a lattice need no region numbers: their cells follow from the side.
    std::vector<std::uint32_t> regions, smooth_regions;
    std::size_t with_regions = 0, with_smooth_regions = 0;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const SmoothCurves* const smooth = calibrator.smooth_of(s);
        const std::vector<std::uint32_t>& own = calibrator.partitions[s].region;
        if (smooth == nullptr) {
            regions.insert(regions.end(), own.begin(), own.end());
            ++with_regions;
        } else if (smooth->by_regions()) {
            smooth_regions.insert(smooth_regions.end(), own.begin(), own.end());
            ++with_smooth_regions;
        }
    }
    ZipWriter zip(file);
    const std::string meta = meta_of(calibrator).dump(2) + "\n";
    zip.add("meta.json", std::as_bytes(std::span(meta)));
    ArrayWriter to(zip);
    to.add("levels", ladder.levels, {ladder.levels.size()});
    to.add_narrow("counts", calibrator.counts, map_shape);
    if (with_regions > 0) {
        to.add_narrow("regions", regions, {with_regions, grid.height, grid.width});
        std::vector<std::uint8_t> levels;
        for (const CurveLevel level : calibrator.levels) levels.push_back(static_cast<std::uint8_t>(level));
        to.add("curve_level", levels, map_shape);
        write_curves(to, calibrator.curves);
    }
    write_smooth(to, calibrator.smooth);
    if (with_smooth_regions > 0)
        to.add_narrow("smooth_regions", smooth_regions, {with_smooth_regions, grid.height, grid.width});
    write_adaptations(to, calibrator);
    write_risks(to, calibrator);
    if (reference != nullptr) write_reference(to, *reference);
    zip.finish(kComment, true);
}
}  // namespace

void save(const Calibrator& calibrator, AtomicFile& file) {
    write(calibrator, file, nullptr);
}

void save(const Calibrator& calibrator, const Reference& reference, AtomicFile& file) {
    write(calibrator, file, &reference);
}

void save(const Calibrator& calibrator, const std::filesystem::path& path) {
    AtomicFile file(path);
    save(calibrator, file);
    file.commit();
}

Result<Calibrator> try_load(const std::filesystem::path& path) noexcept {
    return attempt([&] { return load(path); });
}

Calibrator load(const std::filesystem::path& path) {
    const std::string name = printable(path.string(), 4096);
    if (map_file(path).text().starts_with("\x93NUMPY"))
        fail(ErrorKind::data, "{} is not a calibrator: it is an npy array", name);
    const ZipReader archive(path);
    if (!archive.has("meta.json")) fail(ErrorKind::data, "{} is not a calibrator: it has no meta.json", name);
    for (const ZipReader::Member& member : archive.members())
        if (member.name == "meta.json" && member.size > kMostMeta)
            fail(ErrorKind::data, "{}: meta.json is too large", name);
    const Array text = archive.bytes("meta.json");
    const char* const begin = text.data_as<char>();
    if (nests_deeper({begin, text.view().size()}))
        fail(ErrorKind::data, "{}: meta.json nests deeper than {}", name, kJsonDepth);
    const auto meta = nlohmann::ordered_json::parse(begin, begin + text.view().size(), nullptr, false);
    if (meta.is_discarded()) fail(ErrorKind::data, "{}: meta.json is damaged", name);
    StoredMeta stored = from_meta(meta, name);
    Calibrator& calibrator = stored.calibrator;
    if (!archive.has_checksum() || !archive.checksum_ok())
        fail(ErrorKind::data,
             "{} is damaged: its checksum does not match; calibrate again or restore the file", name);

    const Grid grid = calibrator.grid;
    const std::size_t strata = calibrator.strata(), pixels = grid.pixels();
    const std::vector<std::size_t> map_shape{strata, grid.height, grid.width};
    calibrator.counts = read_narrow(archive, "counts", map_shape);
    const Ladder ladder{read<double>(archive, "levels", {})};
    for (std::size_t i = 0; i < ladder.levels.size(); ++i)
        if (!(ladder.levels[i] >= (i == 0 ? 0.0 : ladder.levels[i - 1]) && ladder.levels[i] <= 1))
            fail(ErrorKind::data, "{} is damaged: its levels do not ascend from 0 to 1", name);
    const bool released = calibrator.options.released;
    // Under leave-one-out every fit has applied the fallback already, so no curve of the image is stored.
    const bool fallback = calibrator.options.fallback == Fallback::image &&
                          calibrator.options.promise != Promise::leave_one_out;
    const auto with_regions =
        static_cast<std::size_t>(std::count(stored.smooth.begin(), stored.smooth.end(), std::nullopt));
    calibrator.curves.assign(strata, CurveSet(ladder, released));
    calibrator.levels.assign(strata * pixels, CurveLevel::region);
    try {
        calibrator.smooth = read_smooth(archive, grid, ladder, std::move(stored.smooth));
        for (std::size_t s = 0; s < strata; ++s) {
            const SmoothCurves* const smooth = calibrator.smooth_of(s);
            if (smooth == nullptr) continue;
            Partition& partition = calibrator.partitions[s];
            if (partition.regions != smooth->cells().pixels())
                fail(ErrorKind::data, "stratum {} has the wrong number of cells", s);
            partition.region.resize(pixels);
            for (std::size_t p = 0; p < pixels; ++p)
                partition.region[p] = static_cast<std::uint32_t>(smooth->cell_of(p));
            if (smooth->without_data())
                std::fill_n(calibrator.levels.begin() + static_cast<std::ptrdiff_t>(s * pixels), pixels,
                            CurveLevel::none);
        }
        calibrator.adaptations = read_adaptations(archive, calibrator, ladder.levels.size());
        calibrator.risks = read_risks(archive, calibrator, ladder.levels.size());
        if (with_regions == 0) return std::move(calibrator);
        const auto regions = read_narrow(archive, "regions", {with_regions, grid.height, grid.width});
        const auto levels = read<std::uint8_t>(archive, "curve_level", map_shape);
        const StoredCurves curves(archive, strata);
        for (std::size_t s = 0, next = 0; s < strata; ++s) {
            if (calibrator.smooth_of(s) != nullptr) continue;
            Partition& partition = calibrator.partitions[s];
            calibrator.curves[s] = curves.of(s, partition.regions + (fallback ? 1 : 0), ladder, released);
            const auto own = regions.begin() + static_cast<std::ptrdiff_t>(next++ * pixels);
            partition.region.assign(own, own + static_cast<std::ptrdiff_t>(pixels));
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::uint8_t level = levels[s * pixels + p];
                if (partition.region[p] >= partition.regions || level > 2 || (level == 1 && !fallback))
                    fail(ErrorKind::data, "a pixel of stratum {} refers to a curve that does not exist", s);
                calibrator.levels[s * pixels + p] = static_cast<CurveLevel>(level);
            }
        }
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", name, problem.what());
    }
    return std::move(calibrator);
}

void save(const Calibrator& calibrator, const Reference& reference, const std::filesystem::path& path) {
    AtomicFile file(path);
    save(calibrator, reference, file);
    file.commit();
}

namespace {
/// Reads the shortfalls, which come from labels; files of earlier versions have none.
void read_shortfalls(const ZipReader& archive, Reference& to) {
    constexpr std::size_t kMostLabelled = 32;
    to.labelled = read<std::uint32_t>(archive, "reference_labelled", {});
    const auto units = read<std::uint32_t>(archive, "reference_shortfall_units", {});
    const auto values = read<float>(archive, "reference_shortfalls", {});
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
        const auto layout = read<std::uint32_t>(archive, "reference_layout", {});
        Reference out;
        if (layout.size() < 2 || layout.size() > kMostClasses + 1 || layout.front() > kMostBlocks)
            fail(ErrorKind::data, "the layout of its reference is inconsistent");
        out.blocks = layout.front();
        out.classes.assign(layout.begin() + 1, layout.end());
        const Array values = archive.array("reference_values");
        if (values.shape().size() != 2 || values.shape()[0] != out.features() || values.shape()[1] == 0)
            fail(ErrorKind::data, "its reference has an unexpected shape");
        out.units = values.shape()[1];
        out.values = read<float>(archive, "reference_values", {out.features(), out.units});
        for (std::size_t i = 0; i < out.values.size(); ++i)
            if (!std::isfinite(out.values[i]) || (i % out.units > 0 && out.values[i] < out.values[i - 1]))
                fail(ErrorKind::data, "its reference does not ascend");
        if (archive.has("reference_labelled.npy")) read_shortfalls(archive, out);
        return out;
    } catch (const Error& problem) {
        fail(ErrorKind::data, "{} is damaged: {}", printable(path.string(), 4096), problem.what());
    }
}

std::string describe(const Calibrator& calibrator) {
    return meta_of(calibrator).dump(2);
}

}  // namespace kandinsky
