#include "partition/kmeans/nearest.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "partition/kmeans/nearest.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky::partition::kmeans::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, Points::kPadding / 2>;
using Floats = hn::Rebind<float, Doubles>;
using Labels = hn::Rebind<std::int32_t, Doubles>;
using Vector = hn::Vec<Doubles>;

/// Nearest centres for two vectors of points at a time, which hides the latency of the additions. kDimension
/// is 0 if the dimension is known at run time only; the usual four coordinates stay in registers.
template <std::size_t kDimension>
std::size_t assign(const float* values, std::size_t stride, std::size_t run_dimension, const double* centres,
                   std::size_t clusters, std::size_t begin, std::size_t end, std::size_t size,
                   std::uint32_t* labels, Move* moves, double* slack, double shift) {
    const Doubles doubles;
    const Floats floats;
    const Labels integers;
    const std::size_t lanes = hn::Lanes(doubles);
    const std::size_t dimension = kDimension > 0 ? kDimension : run_dimension;
    std::size_t moved = 0;
    for (std::size_t i = begin; i < end; i += 2 * lanes) {
        slack[i] -= shift;
        if (slack[i] > 0) continue;
        Vector best0 = hn::Set(doubles, std::numeric_limits<double>::infinity()), best1 = best0;
        Vector next0 = best0, next1 = best0;  // of the second nearest
        Vector label0 = hn::Zero(doubles), label1 = label0;
        const double* centre = centres;
        for (std::size_t c = 0; c < clusters; ++c, centre += dimension) {
            Vector sum0 = hn::Zero(doubles), sum1 = sum0;
            for (std::size_t j = 0; j < dimension; ++j) {
                const float* at = values + j * stride + i;
                const Vector place = hn::Set(doubles, centre[j]);
                const Vector gap0 = hn::Sub(hn::PromoteTo(doubles, hn::LoadU(floats, at)), place);
                const Vector gap1 = hn::Sub(hn::PromoteTo(doubles, hn::LoadU(floats, at + lanes)), place);
                sum0 = hn::Add(sum0, hn::Mul(gap0, gap0));
                sum1 = hn::Add(sum1, hn::Mul(gap1, gap1));
            }
            const Vector number = hn::Set(doubles, static_cast<double>(c));
            const auto nearer0 = hn::Lt(sum0, best0);
            const auto nearer1 = hn::Lt(sum1, best1);
            next0 = hn::Min(next0, hn::IfThenElse(nearer0, best0, sum0));
            next1 = hn::Min(next1, hn::IfThenElse(nearer1, best1, sum1));
            best0 = hn::IfThenElse(nearer0, sum0, best0);
            best1 = hn::IfThenElse(nearer1, sum1, best1);
            label0 = hn::IfThenElse(nearer0, number, label0);
            label1 = hn::IfThenElse(nearer1, number, label1);
        }
        // A lower bound of the true gap; its margin is far larger than rounding.
        const Vector cautious = hn::Set(doubles, 1 - 1e-9);
        const Vector gap0 = hn::Sub(hn::Mul(hn::Sqrt(next0), cautious), hn::Sqrt(best0));
        const Vector gap1 = hn::Sub(hn::Mul(hn::Sqrt(next1), cautious), hn::Sqrt(best1));
        slack[i] = hn::GetLane(hn::MinOfLanes(doubles, hn::Min(gap0, gap1)));
        auto* stored = reinterpret_cast<std::int32_t*>(labels + i);
        const auto new0 = hn::DemoteTo(integers, label0);
        const auto new1 = hn::DemoteTo(integers, label1);
        const bool same = hn::AllTrue(integers, hn::Eq(new0, hn::LoadU(integers, stored))) &&
                          hn::AllTrue(integers, hn::Eq(new1, hn::LoadU(integers, stored + lanes)));
        if (same) continue;
        std::uint32_t fresh[Points::kPadding];
        hn::StoreU(new0, integers, reinterpret_cast<std::int32_t*>(fresh));
        hn::StoreU(new1, integers, reinterpret_cast<std::int32_t*>(fresh) + lanes);
        for (std::size_t lane = 0; lane < 2 * lanes; ++lane) {
            const std::uint32_t old = labels[i + lane];
            if (old == fresh[lane]) continue;
            labels[i + lane] = fresh[lane];
            if (i + lane >= size) continue;  // the padding after the last point does not count
            moves[moved++] = {static_cast<std::uint32_t>(i + lane), old, fresh[lane]};
        }
    }
    return moved;
}

std::size_t assign_any(const float* values, std::size_t stride, std::size_t dimension, const double* centres,
                       std::size_t clusters, std::size_t begin, std::size_t end, std::size_t size,
                       std::uint32_t* labels, Move* moves, double* slack, double shift) {
    const auto function = dimension == 4 ? assign<4> : assign<0>;
    return function(values, stride, dimension, centres, clusters, begin, end, size, labels, moves, slack,
                    shift);
}

}  // namespace kandinsky::partition::kmeans::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky::partition::kmeans {

HWY_EXPORT(assign_any);

std::size_t assign_nearest(const Points& points, std::span<const double> centres, std::size_t begin,
                           std::size_t end, std::uint32_t* labels, Move* moves, double* slack, double moved) {
    return HWY_DYNAMIC_DISPATCH(assign_any)(points.data(), points.stride(), points.dimension(),
                                            centres.data(), centres.size() / points.dimension(), begin, end,
                                            points.size(), labels, moves, slack, moved);
}

}  // namespace kandinsky::partition::kmeans
#endif  // HWY_ONCE
