#include <algorithm>
#include <cmath>
#include <kandinsky/curve.hpp>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "curve/conformal_rank.hpp"
#include "curve/curve_storage.hpp"
#include "curve/rung.hpp"

namespace kandinsky {

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();

/// Whether the values ascend. Has no branch per value, because the curves of a file can have millions of
/// values.
bool ascends(const float* values, std::uint64_t n) {
    unsigned wrong = n > 0 && std::isnan(values[0]);
    for (std::uint64_t j = 1; j < n; ++j) wrong |= static_cast<unsigned>(!(values[j] >= values[j - 1]));
    return wrong == 0;
}
}  // namespace

std::uint64_t conformal_rank(std::uint64_t n, double alpha) {
    if (!(alpha > 0)) return n + 1;
    if (alpha >= 1) return 0;
    // ceil((n+1)(1-alpha)) = (n+1) - floor((n+1) alpha); rounding may put the product just below an integer.
    const double product = static_cast<double>(n + 1) * alpha;
    const auto spared = static_cast<std::uint64_t>(product * (1 + kLevelSlack));  // cut to the integer below
    return n + 1 - std::min(spared, n + 1);
}

Ladder Ladder::uniform(std::size_t rungs) {
    Ladder ladder;
    for (std::size_t j = 1; j < rungs; ++j)
        ladder.levels.push_back(static_cast<double>(j) / static_cast<double>(rungs));
    for (const double tail : {0.9975, 0.999, 0.9995, 0.9999, 0.99995, 0.99999})
        if (ladder.levels.empty() || tail > ladder.levels.back() + kLevelSlack) ladder.levels.push_back(tail);
    return ladder;
}

Ladder Ladder::released() {
    Ladder ladder;
    for (int k = 0; k < 100; ++k) ladder.levels.push_back(k / 99.0);
    return ladder;
}

void CurveSet::append(const Curve& curve) {
    data_.values.insert(data_.values.end(), curve.values.begin(), curve.values.end());
    data_.offsets.push_back(data_.values.size());
    data_.scores.push_back(curve.scores);
    data_.groups.push_back(curve.groups);
    data_.complete.push_back(curve.complete);
}

void CurveSet::append(const CurveSet& other) {
    const std::uint64_t base = data_.values.size();
    data_.values.insert(data_.values.end(), other.data_.values.begin(), other.data_.values.end());
    for (std::size_t i = 1; i < other.data_.offsets.size(); ++i)
        data_.offsets.push_back(base + other.data_.offsets[i]);
    data_.scores.insert(data_.scores.end(), other.data_.scores.begin(), other.data_.scores.end());
    data_.groups.insert(data_.groups.end(), other.data_.groups.begin(), other.data_.groups.end());
    data_.complete.insert(data_.complete.end(), other.data_.complete.begin(), other.data_.complete.end());
}

void CurveSet::reserve(std::size_t curves, std::size_t values) {
    data_.values.reserve(values);
    data_.offsets.reserve(curves + 1);
    data_.scores.reserve(curves);
    data_.groups.reserve(curves);
    data_.complete.reserve(curves);
}

std::size_t CurveSet::rung_of(double alpha) const {
    return kandinsky::rung_of(ladder_, alpha);
}

float CurveSet::threshold(std::size_t curve, double alpha) const {
    return threshold(curve, alpha, interpolate_ || complete(curve) ? 0 : rung_of(alpha));
}

float CurveSet::threshold(std::size_t curve, double alpha, std::size_t rung) const {
    const std::span<const float> points = values(curve);
    if (interpolate_) {
        if (points.empty()) return std::numeric_limits<float>::quiet_NaN();
        const double at = std::clamp(1 - alpha, 0.0, 1.0) * static_cast<double>(points.size() - 1);
        const double nearest = std::round(at);
        if (std::abs(at - nearest) < 1e-9)
            return points[static_cast<std::size_t>(nearest)];  // a point of the curve itself
        const auto below = static_cast<std::size_t>(at);
        const double share = at - static_cast<double>(below);
        return static_cast<float>(points[below] +
                                  (static_cast<double>(points[below + 1]) - points[below]) * share);
    }
    if (alpha >= 1) return -kInf;
    if (!(alpha > 0) || points.empty()) return kInf;
    if (complete(curve)) {
        const std::uint64_t rank = conformal_rank(points.size(), alpha);
        if (rank == 0) return -kInf;
        return rank <= points.size() ? points[rank - 1] : kInf;
    }
    return rung == ladder_.levels.size() ? kInf : points[rung];
}

double CurveSet::p_value(std::size_t curve, float score) const {
    const std::span<const float> points = values(curve);
    if (points.empty()) return interpolate_ ? 0.0 : 1.0;
    // At the levels of the first `above` points the score exceeds the threshold, so the set lacks the class.
    const auto above =
        static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), score) - points.begin());
    if (above == 0) return 1.0;
    if (complete(curve)) {
        const auto n1 = static_cast<double>(points.size() + 1);
        return (n1 - static_cast<double>(above)) / n1;
    }
    return p_value_above(ladder_, above);
}

CurveSet CurveAccess::make(Ladder ladder, bool interpolate, OfSet storage) {
    CurveSet set(std::move(ladder), interpolate);
    const std::size_t n = storage.scores.size();
    const bool fits = storage.offsets.size() == n + 1 && storage.groups.size() == n &&
                      storage.complete.size() == n && storage.offsets.front() == 0 &&
                      storage.offsets.back() == storage.values.size();
    if (!fits) fail(ErrorKind::data, "the curve arrays do not fit together");
    // All offsets are checked first: if they ascend, every curve is inside the values.
    for (std::size_t i = 0; i < n; ++i)
        if (storage.offsets[i] > storage.offsets[i + 1])
            fail(ErrorKind::data, "curve {} has a negative length", i);
    const auto check = [&](std::size_t i) {
        const std::uint64_t length = storage.offsets[i + 1] - storage.offsets[i];
        const std::uint64_t expected = storage.scores[i] == 0     ? 0
                                       : storage.complete[i] != 0 ? storage.scores[i]
                                                                  : set.ladder_.levels.size();
        if (length != expected)
            fail(ErrorKind::data, "curve {} has {} values, but should have {}", i, length, expected);
        const float* const first = storage.values.data() + storage.offsets[i];
        if (ascends(first, length)) return;
        for (std::uint64_t j = 0; j < length; ++j)
            if (std::isnan(first[j]) || (j > 0 && first[j] < first[j - 1]))
                fail(ErrorKind::data, "curve {} is not ascending at point {}", i, j);
    };
    constexpr std::size_t kTask = 4096;  // curves
    try {
        parallel_for((n + kTask - 1) / kTask, [&](std::size_t task) {
            for (std::size_t i = task * kTask; i < std::min(n, (task + 1) * kTask); ++i) check(i);
        });
    } catch (const Error&) {
        for (std::size_t i = 0; i < n; ++i)
            check(i);  // the first bad curve is reported, for any number of threads
        throw;
    }
    set.data_ = std::move(storage);
    return set;
}

std::string_view name_of(Pooling pooling) {
    return pooling == Pooling::pixels ? "pixels" : "groups";
}

Pooling pooling_of(std::string_view name) {
    if (name == "pixels") return Pooling::pixels;
    if (name == "groups") return Pooling::groups;
    fail(ErrorKind::usage, "there is no pooling '{}'; choose pixels or groups", name);
}

}  // namespace kandinsky
