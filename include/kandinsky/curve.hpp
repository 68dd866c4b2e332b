#pragma once

#include <cstdint>
#include <kandinsky/export.hpp>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// What has equal weight when the scores of a region are pooled.
enum class Pooling {
    pixels,  ///< every score (the paper)
    groups,  ///< every group (an image or a patient): the hierarchical quantile
};

/// The levels 1 - alpha at which long curves are stored. A level between two rungs is read at the next higher
/// rung, so prediction sets can only grow. The level rises by less than the distance between rungs.
struct Ladder {
    std::vector<double> levels;  ///< ascending, in [0, 1]

    /// j/rungs for j = 1 .. rungs-1, and a tail toward 1. If `rungs` is a multiple of 20, the coverage error
    /// is exact.
    static Ladder uniform(std::size_t rungs);
    /// k/99 for k = 0 .. 99: the released code's curve points.
    static Ladder released();
};

/// Non-conformity curves of many regions. A curve has order statistics of its region's scores: all of them if
/// it is short ("complete"), otherwise those at the rungs of the ladder.
class CurveSet {
  public:
    /// One region's curve.
    struct Curve {
        std::uint64_t scores = 0;   ///< number of scores, n
        std::uint64_t groups = 0;   ///< groups with at least one score; 0 where groups do not count
        bool complete = false;      ///< values are all n order statistics
        std::vector<float> values;  ///< ascending; at the rungs unless complete; empty when n = 0
    };

    CurveSet() = default;  ///< no curves, no ladder
    /// A set without curves. `interpolate`: curves of the released code. Their thresholds are read by linear
    /// interpolation without the conformal rank, at alpha = 1 too. Without data the threshold is NaN and the
    /// p-value is 0.
    explicit CurveSet(Ladder ladder, bool interpolate = false)
        : ladder_(std::move(ladder)), interpolate_(interpolate) {}

    void append(const Curve& curve);                       ///< adds one curve
    void append(const CurveSet& other);                    ///< adds all curves of a set with the same ladder
    void reserve(std::size_t curves, std::size_t values);  ///< reserves memory for so many in total

    [[nodiscard]] std::size_t size() const { return data_.scores.size(); }  ///< number of curves
    [[nodiscard]] const Ladder& ladder() const { return ladder_; }          ///< the levels of long curves
    /// As Curve::scores.
    [[nodiscard]] std::uint64_t scores(std::size_t curve) const { return data_.scores[curve]; }
    /// As Curve::groups.
    [[nodiscard]] std::uint64_t groups(std::size_t curve) const { return data_.groups[curve]; }
    /// As Curve::complete.
    [[nodiscard]] bool complete(std::size_t curve) const { return data_.complete[curve] != 0; }
    /// As Curve::values.
    [[nodiscard]] std::span<const float> values(std::size_t curve) const {
        return {data_.values.data() + data_.offsets[curve], data_.values.data() + data_.offsets[curve + 1]};
    }

    /// The score threshold at level 1 - alpha: -inf at alpha = 1; otherwise +inf if there are too few scores
    /// for the level or no scores at all.
    [[nodiscard]] float threshold(std::size_t curve, double alpha) const;
    /// The same with rung = rung_of(alpha), for many curves at one alpha.
    [[nodiscard]] float threshold(std::size_t curve, double alpha, std::size_t rung) const;
    /// The rung at which curves that are not complete are read; the number of rungs if the level lies above
    /// all rungs.
    [[nodiscard]] std::size_t rung_of(double alpha) const;
    /// The conformal p-value of a score: a class is in the set at alpha if and only if its p-value exceeds
    /// alpha. If the curve is not complete, the p-value is that of a rung, which exceeds the exact one by
    /// less than the distance between rungs.
    [[nodiscard]] double p_value(std::size_t curve, float score) const;

  private:
    friend struct CurveAccess;

    /// Leaves new numbers uninitialised: for large arrays that several threads fill.
    template <class T>
    struct UnsetAllocator : std::allocator<T> {
        /// The same for another type.
        template <class U>
        struct rebind {
            using other = UnsetAllocator<U>;  ///< the same allocator for U
        };
        UnsetAllocator() = default;
        template <class U>
        UnsetAllocator(const UnsetAllocator<U>&) {}  ///< the allocator has no state
        /// Leaves the number as it is.
        template <class U>
        void construct(U* place) {
            ::new (static_cast<void*>(place)) U;
        }
        /// Constructs the element from arguments.
        template <class U, class... From>
        void construct(U* place, From&&... from) {
            ::new (static_cast<void*>(place)) U(std::forward<From>(from)...);
        }
    };

    /// The arrays of a set as files store them: curve i has values[offsets[i]] to values[offsets[i + 1] - 1].
    struct Storage {
        std::vector<float, UnsetAllocator<float>> values;  ///< of all curves, one after the other
        std::vector<std::uint64_t> offsets{0};             ///< one more than there are curves
        std::vector<std::uint64_t> scores;                 ///< [curve] as Curve::scores
        std::vector<std::uint64_t> groups;                 ///< [curve] as Curve::groups
        std::vector<std::uint8_t> complete;                ///< [curve] as Curve::complete
    };

    Ladder ladder_;
    bool interpolate_ = false;
    Storage data_;
};

[[nodiscard]] std::string_view name_of(Pooling pooling);  ///< the option's word
[[nodiscard]] Pooling pooling_of(std::string_view name);  ///< throws a usage error for an unknown name

}  // namespace kandinsky
