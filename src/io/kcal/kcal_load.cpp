#include "curve/curve_storage.hpp"
#include "io/kcal/kcal.hpp"
#include "io/kcal/kcal_arrays.hpp"

#include <algorithm>

#include "core/base/attempt.hpp"
#include "core/base/pages.hpp"
#include "core/base/parallel.hpp"
#include "curve/lattice.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/json/json_outline.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostMeta = std::size_t{64} << 20;

std::vector<std::uint32_t> read_narrow(const ZipReader& archive, const std::string& member,
                                       const std::vector<std::size_t>& shape) {
    return read_member<std::uint32_t>(archive, member, shape, {DType::uint8, DType::uint16, DType::uint32});
}

/// Curves of all strata, one after the other.
class StoredCurves {
  public:
    StoredCurves(const ZipReader& archive, std::size_t strata)
        : values_(archive.array("curve_values")),
          first_(read_member<std::uint64_t>(archive, "first_curve", {strata + 1})),
          offsets_(read_member<std::uint64_t>(archive, "curve_offsets", {})),
          scores_(read_member<std::uint64_t>(archive, "curve_scores", {})),
          groups_(read_member<std::uint64_t>(archive, "curve_groups", {})),
          complete_(read_member<std::uint8_t>(archive, "curve_complete", {})) {
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
    const auto edges = read_member<std::int32_t>(archive, "smooth_edges", {});
    const auto levels = read_member<std::uint32_t>(archive, "smooth_levels", {});
    const auto cumulative = read_member<std::uint16_t>(archive, "smooth_cumulative", {});
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
    const auto levels = read_member<std::int32_t>(archive, "adapt_levels", {});
    const std::int32_t step =
        archive.has("adapt_step.npy") ? read_member<std::int32_t>(archive, "adapt_step", {1}).front() : 1;
    std::vector<std::vector<Adaptation::Shift>> shifts(calibrator.strata());
    for (const double* at = numbers.data(); at != numbers.data() + numbers.size(); at += columns) {
        std::size_t s = 0;
        while (s < shifts.size() && static_cast<double>(s) != *at) ++s;
        const SmoothCurves* const smooth = s < shifts.size() ? calibrator.smooth_of(s) : nullptr;
        if (smooth == nullptr || smooth->without_data())
            fail(ErrorKind::data, "a shift of the levels belongs to no stratum that has scores");
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
    const auto least = read_member<double>(archive, "risk_alphas", {strata});
    std::vector<RiskLevels> out(strata);
    for (std::size_t s = 0; s < strata; ++s) {
        if (!(least[s] >= 0)) fail(ErrorKind::data, "the least alpha of stratum {} is not a number", s);
        out[s].least_alpha = least[s];
    }
    if (calibrator.options.risk != Risk::precision) return out;
    const auto numbers = read_member<std::uint32_t>(archive, "risk_rungs", {strata, rungs});
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
    const Ladder ladder{read_member<double>(archive, "levels", {})};
    for (std::size_t i = 0; i < ladder.levels.size(); ++i)
        if (!(ladder.levels[i] >= (i == 0 ? 0.0 : ladder.levels[i - 1]) && ladder.levels[i] <= 1))
            fail(ErrorKind::data, "{} is damaged: its levels do not ascend from 0 to 1", name);
    const bool released = calibrator.options.released;
    // Under leave-one-out every fit has applied the fallback already, so no image-wide curve is stored.
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
        const auto levels = read_member<std::uint8_t>(archive, "curve_level", map_shape);
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

}  // namespace kandinsky
