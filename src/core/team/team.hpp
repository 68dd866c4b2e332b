#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/team/communicator.hpp"

namespace kandinsky {

class Checkpoint;

/// Who works on a data set together, and where their state is kept.
struct Team {
    Communicator& comm;
    Checkpoint* checkpoint = nullptr;

    [[nodiscard]] bool several() const { return comm.size() > 1; }
    /// Whether walks over images must add up integers, rather than hold all scores of a region at once.
    [[nodiscard]] bool counts() const { return several() || checkpoint != nullptr; }
};

__extension__ using WideCount = unsigned __int128;

/// The rank that owns a group of images [before, after) of `all`: where its middle one would go.
[[nodiscard]] inline std::size_t owner_of(std::uint64_t before, std::uint64_t after, std::uint64_t all,
                                          std::size_t ranks) {
    return static_cast<std::size_t>((before + after) * ranks / (2 * all));
}

/// Sums modulo 2^112 on fewer than 2^16 ranks: as two words each, of 48 bits and the rest. A process alone
/// leaves the numbers as they are.
void sum_wide(Communicator& comm, std::span<WideCount> values);
void sum_wide(Communicator& comm, std::span<std::uint64_t> values);  ///< for templates over all three
void sum_wide(Communicator& comm, std::span<std::uint32_t> values);

/// Signed numbers, modulo 2^64.
void sum_signed(Communicator& comm, std::span<std::int64_t> values);

/// One number's sum, maximum and minimum over the ranks.
[[nodiscard]] std::uint64_t total(Communicator& comm, std::uint64_t value);
[[nodiscard]] std::uint64_t most(Communicator& comm, std::uint64_t value);
[[nodiscard]] std::uint64_t least(Communicator& comm, std::uint64_t value);

/// Up to so many groups are put in one order of all ranks, where that makes a result finer: folds of equal
/// size, resamples of equal size. More groups are dealt with one by one.
inline constexpr std::uint64_t kRankedGroups = 65536;

/// Every rank's numbers, one rank after the other, and where the own ones begin.
struct Gathered {
    std::vector<std::uint64_t> values;
    std::size_t first = 0;
};
[[nodiscard]] Gathered gather_words(Communicator& comm, std::span<const std::uint64_t> own);
/// The same for a number of each group, of at most kRankedGroups in all: by a table of that size, so that
/// what is handed over (512 KiB) does not depend on how many groups there are.
[[nodiscard]] Gathered gather_ranked(Communicator& comm, std::span<const std::uint64_t> own);

/// The values of ranks wanted[i] (from 1) in the ascending order of all ranks' keys together; `sorted` are
/// the own ones. 64 rounds of one count for each wanted: bytes do not depend on how many keys there are. A
/// rank beyond them gives the largest number.
[[nodiscard]] std::vector<std::uint64_t> select_ranks(Communicator& comm,
                                                      std::span<const std::uint64_t> sorted,
                                                      std::span<const std::uint64_t> wanted);

/// Numbers of which each rank has made some and left the others 0.0: all of them, bit by bit.
void gather_doubles(Communicator& comm, std::span<double> values);

/// Of a team that may not be there.
[[nodiscard]] inline Communicator& comm_of(const Team* team) {
    return team != nullptr ? team->comm : alone();
}

/// Throws unless all ranks have the same number: what each computes for itself must agree to the bit, and
/// processors of different kinds might not.
void check_same(Communicator& comm, std::uint64_t hash, const char* what);

}  // namespace kandinsky
