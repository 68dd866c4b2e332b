#include "core/team/team.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/team/bisect.hpp"

namespace kandinsky {

namespace {
class Alone final : public Communicator {
  public:
    [[nodiscard]] std::size_t rank() const override { return 0; }
    [[nodiscard]] std::size_t size() const override { return 1; }

  protected:
    void add(std::span<std::uint64_t>) override {}
    void add(std::span<std::uint32_t>) override {}
    void raise(std::span<std::uint64_t>) override {}
    std::vector<std::vector<std::byte>> collect(std::span<const std::byte>) override { return {}; }
};
}  // namespace

Communicator& alone() {
    static Alone communicator;
    return communicator;
}

void sum_wide(Communicator& comm, std::span<WideCount> values) {
    if (comm.size() == 1) return;
    constexpr unsigned kBits = 48;
    constexpr std::size_t kStretch = std::size_t{1} << 20;
    std::vector<std::uint64_t> words;
    for (std::size_t begin = 0; begin < values.size(); begin += kStretch) {
        const auto part = values.subspan(begin, std::min(kStretch, values.size() - begin));
        words.resize(2 * part.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
            words[2 * i] = static_cast<std::uint64_t>(part[i]) & ((std::uint64_t{1} << kBits) - 1);
            words[2 * i + 1] = static_cast<std::uint64_t>(part[i] >> kBits);
        }
        comm.sum(std::span(words));
        for (std::size_t i = 0; i < part.size(); ++i)
            part[i] = (static_cast<WideCount>(words[2 * i + 1]) << kBits) + words[2 * i];
    }
}

void sum_wide(Communicator& comm, std::span<std::uint64_t> values) {
    comm.sum(values);
}

void sum_wide(Communicator& comm, std::span<std::uint32_t> values) {
    comm.sum(values);
}

void sum_signed(Communicator& comm, std::span<std::int64_t> values) {
    // The standard allows access to a signed integer through its unsigned type.
    comm.sum(std::span(reinterpret_cast<std::uint64_t*>(values.data()), values.size()));
}

std::uint64_t total(Communicator& comm, std::uint64_t value) {
    comm.sum(std::span(&value, 1));
    return value;
}

std::uint64_t most(Communicator& comm, std::uint64_t value) {
    comm.max(std::span(&value, 1));
    return value;
}

std::uint64_t least(Communicator& comm, std::uint64_t value) {
    return ~most(comm, ~value);
}

Gathered gather_words(Communicator& comm, std::span<const std::uint64_t> own) {
    const std::vector<std::vector<std::byte>> parts = comm.gather(std::as_bytes(own));
    Gathered out;
    for (std::size_t r = 0; r < parts.size(); ++r) {
        const std::size_t before = out.values.size();
        if (r == comm.rank()) out.first = before;
        out.values.resize(before + parts[r].size() / sizeof(std::uint64_t));
        if (!parts[r].empty()) std::memcpy(out.values.data() + before, parts[r].data(), parts[r].size());
    }
    return out;
}

Gathered gather_ranked(Communicator& comm, std::span<const std::uint64_t> own) {
    if (comm.size() == 1) return {.values = {own.begin(), own.end()}, .first = 0};
    const std::uint64_t count = own.size();
    const Gathered counts = gather_words(comm, std::span(&count, 1));
    const auto own_count = counts.values.begin() + static_cast<std::ptrdiff_t>(counts.first);
    Gathered out{.values = std::vector<std::uint64_t>(kRankedGroups),
                 .first = std::accumulate(counts.values.begin(), own_count, std::uint64_t{0})};
    std::copy(own.begin(), own.end(), out.values.begin() + static_cast<std::ptrdiff_t>(out.first));
    comm.sum(std::span(out.values));
    out.values.resize(std::accumulate(own_count, counts.values.end(), out.first));
    return out;
}

std::vector<std::uint64_t> select_ranks(Communicator& comm, std::span<const std::uint64_t> sorted,
                                        std::span<const std::uint64_t> wanted, unsigned bits) {
    std::vector<Sought> searches;
    for (const std::uint64_t rank : wanted) searches.push_back({.target = rank});
    ascend(searches);
    bisect<std::uint64_t>(
        comm, 1, wanted.size(), 0, bits, [&](std::size_t) -> std::vector<Sought>& { return searches; },
        [&](std::size_t, const Sought&, std::uint64_t middle) {
            return static_cast<std::uint64_t>(std::lower_bound(sorted.begin(), sorted.end(), middle) -
                                              sorted.begin());
        });
    std::vector<std::uint64_t> found;
    for (const std::uint64_t rank : wanted) found.push_back(key_for(searches, rank));
    return found;
}

void gather_doubles(Communicator& comm, std::span<double> values) {
    if (comm.size() == 1) return;
    // One rank has the number's bits and the others have zeros, so the integer sum is the bits.
    std::vector<std::uint64_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size_bytes());
    comm.sum(std::span(bits));
    std::memcpy(values.data(), bits.data(), values.size_bytes());
}

void check_same(Communicator& comm, std::uint64_t hash, const char* what) {
    if (comm.size() == 1) return;
    std::uint64_t both[2] = {hash, ~hash};
    comm.max(std::span(both));
    if (both[0] != hash || both[1] != ~hash)
        fail(ErrorKind::internal,
             "the ranks disagree about {}; run all ranks on the same kind of machine with the same version "
             "of kandinsky",
             what);
}

}  // namespace kandinsky
