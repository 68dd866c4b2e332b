#include "partition/envelope.hpp"
#include "curve/curve_storage.hpp"

#include <algorithm>
#include <cstring>

namespace kandinsky::partition {

std::vector<std::uint16_t> read_on(const ScoreGrid& to, const SmoothStorage& from, std::size_t cells) {
    struct Place {
        std::size_t bin;
        std::int64_t part, whole;  ///< of the bin
    };
    const std::vector<std::int32_t>& edges = from.edges;
    std::vector<Place> places;
    for (std::size_t k = 0; k + 1 < to.bins(); ++k) {
        const std::int32_t key = to.edges()[k];
        const auto bin =
            static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), key) - edges.begin());
        if (bin == edges.size()) {
            places.push_back({bin, 0, 1});
            continue;
        }
        const std::int64_t low = bin > 0 ? edges[bin - 1] : from.origin;
        places.push_back({bin, std::max<std::int64_t>(0, key - low), edges[bin] - low});
    }
    const std::size_t known = edges.size() - 1;
    std::vector<std::uint16_t> out(cells * places.size());
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const std::uint16_t* const own = from.cumulative.data() + cell * known;
        const auto value = [&](std::size_t bin) -> std::int64_t {
            return bin < known ? own[bin] : SmoothCurves::kOne;
        };
        for (std::size_t k = 0; k < places.size(); ++k) {
            const auto& [bin, part, whole] = places[k];
            std::int64_t level = SmoothCurves::kOne;
            if (bin < edges.size()) {
                const std::int64_t below = bin > 0 ? value(bin - 1) : 0;
                level = below + (value(bin) - below) * part / whole;
            }
            out[cell * places.size() + k] = static_cast<std::uint16_t>(std::min<std::int64_t>(65535, level));
        }
    }
    return out;
}

State Envelope::state() {
    State all = levels.state();
    all.push_back(bytes_of(most));
    all.push_back(bytes_of(shifts));
    return all;
}

void Envelope::sum(Communicator& comm) {
    levels.sum(comm);
    gather_doubles(comm, shifts);
    if (comm.size() == 1) return;
    for (const std::vector<std::byte>& other : comm.gather(bytes_of(most)))
        for (std::size_t i = 0; i < most.size(); ++i) {
            std::uint16_t value = 0;
            std::memcpy(&value, other.data() + i * sizeof value, sizeof value);
            most[i] = std::max(most[i], value);
        }
}

SmoothStorage storage_on(const ScoreGrid& grid, const Cells& cells,
                         std::optional<std::vector<std::uint16_t>> distributions) {
    SmoothStorage storage;
    storage.side = cells.side();
    storage.region = cells.region();
    if (!distributions) return storage;
    storage.origin = grid.origin();
    storage.largest = grid.largest();
    storage.edges = grid.edges();
    storage.cumulative = std::move(*distributions);
    return storage;
}

SmoothJudge::SmoothJudge(const Dataset& data, const ScoreOptions& score, const Cells& cells)
    : image_(data.grid()),
      cells_(cells),
      common_(ScoreGrid::fixed(score, data.classes())),
      rows_(cells.rows()),
      columns_(cells.columns()) {}

namespace {
constexpr std::size_t kCount = ImageFeatures::kCount;
constexpr std::size_t kShiftNumbers = 3 * kCount + 2;  // the last number: whether the group was left out

void store(const Adaptation::Shift& shift, double* to) {
    for (const auto* part : {&shift.slope, &shift.low, &shift.high})
        to = std::copy(part->begin(), part->end(), to);
    *to++ = shift.constant;
    *to = 1;
}

std::vector<Adaptation::Shift> stored_shifts(const std::vector<double>& numbers) {
    std::vector<Adaptation::Shift> out;
    for (const double* at = numbers.data(); at != numbers.data() + numbers.size(); at += kShiftNumbers) {
        if (at[kShiftNumbers - 1] == 0) continue;
        Adaptation::Shift& one = out.emplace_back();
        std::copy_n(at, kCount, one.slope.begin());
        std::copy_n(at + kCount, kCount, one.low.begin());
        std::copy_n(at + 2 * kCount, kCount, one.high.begin());
        one.constant = at[3 * kCount];
    }
    return out;
}
}  // namespace

Envelope SmoothJudge::start(Adapt adapt, std::size_t groups, std::vector<std::uint64_t> weights) const {
    return {.most = std::vector<std::uint16_t>(cells_.grid().pixels() * (common_.bins() - 1)),
            .levels = GroupLevels(adapt),
            .shifts = std::vector<double>(adapt == Adapt::none ? 0 : groups * kShiftNumbers),
            .weights = std::move(weights)};
}

void SmoothJudge::add(const Evidence& evidence, std::uint32_t group, const SmoothStorage* learnt,
                      const Adaptation::Shift& shift, Envelope& out) {
    const bool adapts = !out.shifts.empty();
    GroupLevels::Counts counts = out.levels.no_counts();
    std::optional<std::vector<std::uint16_t>> read;
    if (learnt != nullptr) read = read_on(common_, *learnt, cells_.grid().pixels());
    const SmoothCurves curves = smooth_from(image_, Ladder{}, storage_on(common_, cells_, std::move(read)));
    for (const Evidence::Image& image : evidence.images()) {
        if (image.group != group) continue;
        if (learnt == nullptr) {
            counts.back() += image.scores.size();
            continue;
        }
        const std::int32_t own_shift = shift.at(image.features);
        for (const auto& [pixel, score] : image.scores) {
            const std::int32_t key = scale_key(score);
            const std::uint32_t level =
                level_between(curves, rows_[pixel / image_.width], columns_[cells_.column_of(pixel)],
                              common_.bin_of_key(key), key);
            ++counts[adapts ? GroupLevels::step_of(level, own_shift) : GroupLevels::step_of(level)];
        }
    }
    const std::lock_guard lock(adding_);
    if (adapts) store(shift, out.shifts.data() + group * kShiftNumbers);
    out.levels.add(counts, out.weights.empty() ? kGroupWeight : out.weights[group]);
    const std::vector<std::uint16_t>& own = storage_of(curves).cumulative;
    for (std::size_t i = 0; i < out.most.size(); ++i)
        out.most[i] = std::max<std::uint16_t>(out.most[i], own.empty() ? 65535 : 65535 - own[i]);
}

SmoothStorage SmoothJudge::curves(const Envelope& envelope, const Ladder& ladder) const {
    std::vector<std::uint16_t> least;
    for (const std::uint16_t value : envelope.most) least.push_back(65535 - value);
    SmoothStorage storage = storage_on(common_, cells_, std::move(least));
    if (envelope.shifts.empty()) storage.levels = levels_of(ladder, &envelope.levels);
    storage.groups = envelope.levels.groups();
    return storage;
}

Adaptation SmoothJudge::adapted_curves(const Envelope& envelope, const Ladder& ladder,
                                       SmoothStorage& storage) const {
    storage = curves(envelope, ladder);
    return adapted(stored_shifts(envelope.shifts), envelope.levels, ladder, storage);
}

}  // namespace kandinsky::partition
