#include "partition/envelope.hpp"

#include <algorithm>
#include <cstring>

namespace kandinsky::partition {

std::vector<std::uint16_t> read_on(const ScoreGrid& to, const SmoothCurves::Storage& from,
                                   std::size_t cells) {
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
    return all;
}

void Envelope::sum(Communicator& comm) {
    levels.sum(comm);
    if (comm.size() == 1) return;
    for (const std::vector<std::byte>& other : comm.gather(bytes_of(most)))
        for (std::size_t i = 0; i < most.size(); ++i) {
            std::uint16_t value = 0;
            std::memcpy(&value, other.data() + i * sizeof value, sizeof value);
            most[i] = std::max(most[i], value);
        }
}

SmoothCurves::Storage storage_on(const ScoreGrid& grid, const Cells& cells,
                                 std::optional<std::vector<std::uint16_t>> distributions) {
    SmoothCurves::Storage storage;
    storage.side = cells.side();
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

Envelope SmoothJudge::start() const {
    return {.most = std::vector<std::uint16_t>(cells_.grid().pixels() * (common_.bins() - 1)), .levels = {}};
}

void SmoothJudge::add(const Evidence& evidence, std::uint32_t group, const SmoothCurves::Storage* learnt,
                      Envelope& out) {
    std::vector<std::uint32_t> counts(GroupLevels::kSteps + 2);
    std::optional<std::vector<std::uint16_t>> read;
    if (learnt != nullptr) read = read_on(common_, *learnt, cells_.grid().pixels());
    const SmoothCurves curves(image_, Ladder{}, storage_on(common_, cells_, std::move(read)));
    for (const Evidence::Image& image : evidence.images()) {
        if (image.group != group) continue;
        for (const auto& [pixel, score] : image.scores) {
            const std::int32_t key = scale_key(score);
            ++counts[learnt == nullptr ? GroupLevels::kSteps + 1
                                       : GroupLevels::step_of(curves.level(rows_[pixel / image_.width],
                                                                           columns_[pixel % image_.width],
                                                                           common_.bin_of_key(key), key))];
        }
    }
    const std::lock_guard lock(adding_);
    out.levels.add(counts);
    const std::vector<std::uint16_t>& own = curves.storage().cumulative;
    for (std::size_t i = 0; i < out.most.size(); ++i)
        out.most[i] = std::max<std::uint16_t>(out.most[i], own.empty() ? 65535 : 65535 - own[i]);
}

SmoothCurves::Storage SmoothJudge::curves(const Envelope& envelope, const Ladder& ladder) const {
    std::vector<std::uint16_t> least;
    for (const std::uint16_t value : envelope.most) least.push_back(65535 - value);
    SmoothCurves::Storage storage = storage_on(common_, cells_, std::move(least));
    storage.levels = levels_of(ladder, &envelope.levels);
    storage.groups = envelope.levels.groups();
    return storage;
}

}  // namespace kandinsky::partition
