#include "curve/curve_storage.hpp"
#include "io/kcal/kcal.hpp"
#include "io/kcal/kcal_arrays.hpp"

#include <algorithm>
#include <kandinsky/reference.hpp>

#include "curve/lattice.hpp"
#include "io/array/npy.hpp"
#include "io/zip/zip_writer.hpp"

namespace kandinsky {

namespace {
constexpr const char* kComment = "kandinsky calibrator ";

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

void save(const Calibrator& calibrator, const Reference& reference, const std::filesystem::path& path) {
    AtomicFile file(path);
    save(calibrator, reference, file);
    file.commit();
}

}  // namespace kandinsky
