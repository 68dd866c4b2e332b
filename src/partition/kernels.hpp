#pragma once

#include <cstddef>

namespace kandinsky::partition {

/// out[i] = sum over t of weights[t] * rows[t][i] for i < n, added in the order of t. No fused operations, so
/// any vector unit gives the same bits, and rows that ascend in i (with weights >= 0) give an ascending
/// result. `out` must not be one of the rows. No allocation.
void weighted_sum(const float* const* rows, const float* weights, std::size_t terms, std::size_t n,
                  float* out);

/// sums[j * rows + k] += sum over i < n of left[j * n + i] * right[k * n + i] for j <= k; entries with j > k
/// are undefined. `rows` is a multiple of 3, `n` of 8. Each sum uses eight float lanes on every machine,
/// which are then added in double. No allocation.
void add_products(const float* left, const float* right, std::size_t rows, std::size_t n, double* sums);

}  // namespace kandinsky::partition
