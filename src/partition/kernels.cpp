#include "partition/kernels.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "partition/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// The number of lanes is the same on every machine. The compiler maps them to the target's vectors, so sums
// do not depend on the machine.
HWY_BEFORE_NAMESPACE();
namespace kandinsky::partition {
namespace HWY_NAMESPACE {

using Lanes = float __attribute__((vector_size(32)));
using WideLanes = float __attribute__((vector_size(64)));

template <class Vector>
HWY_INLINE void Load(const float* from, Vector& to) {
    std::memcpy(&to, from, sizeof to);
}

void WeightedSum(const float* const* rows, const float* weights, std::size_t terms, std::size_t n,
                 float* out) {
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        WideLanes a{}, b{}, c{}, d{}, x;
        for (std::size_t t = 0; t < terms; ++t) {
            const float* const row = rows[t] + i;
            const float w = weights[t];
            Load(row, x), a += x * w;
            Load(row + 16, x), b += x * w;
            Load(row + 32, x), c += x * w;
            Load(row + 48, x), d += x * w;
        }
        std::memcpy(out + i, &a, sizeof a);
        std::memcpy(out + i + 16, &b, sizeof b);
        std::memcpy(out + i + 32, &c, sizeof c);
        std::memcpy(out + i + 48, &d, sizeof d);
    }
    for (; i + 8 <= n; i += 8) {
        Lanes sum{}, x;
        for (std::size_t t = 0; t < terms; ++t) Load(rows[t] + i, x), sum += x * weights[t];
        std::memcpy(out + i, &sum, sizeof sum);
    }
    for (; i < n; ++i) {
        float sum = 0;
        for (std::size_t t = 0; t < terms; ++t) sum += rows[t][i] * weights[t];
        out[i] = sum;
    }
}

void AddProducts(const float* left, const float* right, std::size_t rows, std::size_t n, double* sums) {
    for (std::size_t j = 0; j < rows; j += 3)
        for (std::size_t k = j; k < rows; k += 3) {
            Lanes sum[3][3] = {};
            for (std::size_t i = 0; i < n; i += 8) {
                Lanes l[3], r[3];
                for (std::size_t u = 0; u < 3; ++u) {
                    Load(left + (j + u) * n + i, l[u]);
                    Load(right + (k + u) * n + i, r[u]);
                }
                for (std::size_t u = 0; u < 3; ++u)
                    for (std::size_t v = 0; v < 3; ++v) sum[u][v] += l[u] * r[v];
            }
            for (std::size_t u = 0; u < 3; ++u)
                for (std::size_t v = 0; v < 3; ++v) {
                    double total = 0;
                    for (std::size_t lane = 0; lane < 8; ++lane)
                        total += static_cast<double>(sum[u][v][lane]);
                    sums[(j + u) * rows + k + v] += total;
                }
        }
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky::partition
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky::partition {
HWY_EXPORT(WeightedSum);
HWY_EXPORT(AddProducts);

void weighted_sum(const float* const* rows, const float* weights, std::size_t terms, std::size_t n,
                  float* out) {
    HWY_DYNAMIC_DISPATCH(WeightedSum)(rows, weights, terms, n, out);
}

void add_products(const float* left, const float* right, std::size_t rows, std::size_t n, double* sums) {
    HWY_DYNAMIC_DISPATCH(AddProducts)(left, right, rows, n, sums);
}
}  // namespace kandinsky::partition
#endif
