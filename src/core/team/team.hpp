#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/team/communicator.hpp"

namespace kandinsky {

class Checkpoint;

/// The ranks that work on a data set together, and their checkpoint.
struct Team {
    Communicator& comm;
    Checkpoint* checkpoint = nullptr;

    [[nodiscard]] bool several() const { return comm.size() > 1; }
    /// Whether passes over images must add integer counts, because scores are neither gathered on one rank
    /// nor saved in checkpoints.
    [[nodiscard]] bool counts() const { return several() || checkpoint != nullptr; }
};

__extension__ using WideCount = unsigned __int128;

/// The rank that owns a group with the images [before, after) of `all`: the rank of its middle image.
[[nodiscard]] inline std::size_t owner_of(std::uint64_t before, std::uint64_t after, std::uint64_t all,
                                          std::size_t ranks) {
    return static_cast<std::size_t>((before + after) * ranks / (2 * all));
}

/// Sums modulo 2^112 over fewer than 2^16 ranks. Each number is sent as two words: 48 bits and the rest. Does
/// nothing for a single process.
void sum_wide(Communicator& comm, std::span<WideCount> values);
/// Sums modulo 2^64 or 2^32; with these overloads, templates accept all three types.
void sum_wide(Communicator& comm, std::span<std::uint64_t> values);
void sum_wide(Communicator& comm, std::span<std::uint32_t> values);

/// Sums of signed numbers, modulo 2^64.
void sum_signed(Communicator& comm, std::span<std::int64_t> values);

/// The sum, maximum and minimum of one number over the ranks.
[[nodiscard]] std::uint64_t total(Communicator& comm, std::uint64_t value);
[[nodiscard]] std::uint64_t most(Communicator& comm, std::uint64_t value);
[[nodiscard]] std::uint64_t least(Communicator& comm, std::uint64_t value);

/// Up to this number of groups, all ranks use one common order of the groups, which gives folds and resamples
/// of equal size. If there are more, each group is assigned independently of the others.
inline constexpr std::uint64_t kRankedGroups = 65536;

/// The numbers of every rank, in the order of the ranks, and the position of this rank's first number.
struct Gathered {
    std::vector<std::uint64_t> values;
    std::size_t first = 0;
};
[[nodiscard]] Gathered gather_words(Communicator& comm, std::span<const std::uint64_t> own);
/// gather_words() for one number of each group and at most kRankedGroups groups. Sends a table of that size,
/// so the network volume (512 KiB) does not depend on the number of groups.
[[nodiscard]] Gathered gather_ranked(Communicator& comm, std::span<const std::uint64_t> own);

/// The order statistics wanted[i] (from 1) of the keys of all ranks; `sorted` are this rank's own keys, below
/// 2^bits. The search takes `bits` rounds with one count per order statistic, so the network volume does not
/// depend on the number of keys. An order statistic beyond the last key gives 2^bits - 1.
[[nodiscard]] std::vector<std::uint64_t> select_ranks(Communicator& comm,
                                                      std::span<const std::uint64_t> sorted,
                                                      std::span<const std::uint64_t> wanted,
                                                      unsigned bits = 64);

/// Gives all numbers to all ranks. Each number was computed by one rank and is 0.0 on the others. Exact.
void gather_doubles(Communicator& comm, std::span<double> values);

/// The communicator of a team, or of a single process if `team` is null.
[[nodiscard]] inline Communicator& comm_of(const Team* team) {
    return team != nullptr ? team->comm : alone();
}

/// Throws unless all ranks have the same number. Results that every rank computes itself must agree to the
/// bit, but processors of different kinds may compute different bits.
void check_same(Communicator& comm, std::uint64_t hash, const char* what);

}  // namespace kandinsky
