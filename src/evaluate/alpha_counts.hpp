#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernel/count_kernels.hpp"
#include "evaluate/tally.hpp"
#include "score/visit.hpp"

namespace kandinsky {

/// Up to this many classes, set sizes are stored in bytes, which vector code counts.
constexpr std::size_t kFewClasses = 8;

/// Adds 1 to the size of each set that contains the class.
template <class Size>
inline void add_sizes(const std::uint8_t* in, std::size_t n, Size* size) {
    if constexpr (sizeof(Size) == 1)
        add_both(in, in, n, size);
    else
        for (std::size_t i = 0; i < n; ++i) size[i] = static_cast<Size>(size[i] + in[i]);
}

/// The number of labelled pixels whose set has `wanted` classes.
template <class Size>
inline std::uint64_t count_size(const Size* size, std::size_t wanted, const std::uint8_t* labelled,
                                std::size_t n) {
    std::uint64_t count = 0;
    if constexpr (sizeof(Size) == 1)
        count = count_equal(size, static_cast<std::uint8_t>(wanted), labelled, labelled, n);
    else
        for (std::size_t i = 0; i < n; ++i) count += labelled[i] & (size[i] == wanted);
    return count;
}

/// Adds a class's samples and covered samples to the counts by set size; returns the number of each.
template <class Size>
inline std::pair<std::uint64_t, std::uint64_t> count_by_size(const Size* size, const std::uint8_t* member,
                                                             const std::uint8_t* in, std::size_t n,
                                                             std::vector<std::uint64_t>& samples,
                                                             std::vector<std::uint64_t>& covered) {
    std::uint64_t all = 0, hits = 0;
    const auto add = [&](std::size_t k, std::uint64_t here, std::uint64_t own) {
        samples[k] += here;
        covered[k] += own;
        all += here;
        hits += own;
    };
    if constexpr (sizeof(Size) == 1) {
        for (std::size_t k = 0; k < samples.size(); ++k) {
            const auto wanted = static_cast<std::uint8_t>(k);
            add(k, count_equal(size, wanted, member, member, n),
                k > 0 ? count_equal(size, wanted, member, in, n) : 0);
        }
    } else {
        for (std::size_t i = 0; i < n; ++i)
            if (member[i] != 0) add(size[i], 1, in[i]);
    }
    return {all, hits};
}

/// Counts of the contents of sets.
struct HeldCounts {
    SetCounts plain;                     ///< before empty sets are filled
    std::uint64_t filled = 0, hits = 0;  ///< number of filled sets, and of those that got the pixel's class
    HeldCounts& operator+=(const HeldCounts& other) {
        plain += other.plain;
        filled += other.filled;
        hits += other.hits;
        return *this;
    }
};

/// The counts over all images.
struct AlphaCounts : HeldCounts {
    explicit AlphaCounts(std::size_t classes)
        : size_samples(classes + 1), size_covered(classes + 1), tested(classes), wrong(classes) {}
    std::vector<std::uint64_t> size_samples, size_covered;  ///< [set size] before filling
    /// [class] number of samples; number of sets that wrongly contain the class after filling.
    std::vector<std::uint64_t> tested, wrong;
    void list(VisitSums& sums) {
        for (auto* one : {&size_samples, &size_covered, &tested, &wrong}) sums.add(std::span(*one));
        for (std::uint64_t* one : {&plain.sets, &plain.members, &plain.wrong, &plain.empty, &plain.single,
                                   &plain.right, &plain.full, &filled, &hits})
            sums.add(*one);
    }
    void add(const AlphaCounts& other) {
        for (auto field : {&AlphaCounts::size_samples, &AlphaCounts::size_covered, &AlphaCounts::tested,
                           &AlphaCounts::wrong})
            for (std::size_t i = 0; i < (this->*field).size(); ++i) (this->*field)[i] += (other.*field)[i];
        *this += other;
    }
};

}  // namespace kandinsky
