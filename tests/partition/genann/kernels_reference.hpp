#pragma once

#include <algorithm>
#include <cmath>

#include "partition/genann/kernels.hpp"

// The definitions that the vector code is compared with, lane by lane.
namespace kandinsky::partition::genann {

template <class Finish>
void for_each_four_reference(const PointBlock& a, const PointBlock& b, const Finish& finish) {
    for (std::size_t start = 0; start < b.count; start += 512) {
        for (std::size_t i = 0; i < a.count; i += 4) {
            float sums[4][16] = {};
            for (std::size_t k = 0; k < 4 && i + k < a.count; ++k) {
                for (std::size_t j = start; j < std::min(b.count, start + 512); ++j) {
                    float squared = 0;
                    for (std::size_t q = 0; q < a.dimensions; ++q) {
                        const float difference = b.values[q * b.stride + j] - a.values[q * a.stride + i + k];
                        squared = squared + difference * difference;
                    }
                    sums[k][(j - start) % 16] +=
                        std::sqrt(squared) * (b.weights != nullptr ? b.weights[j] : 1.0f);
                }
            }
            finish(i, sums);
        }
    }
}

inline double pair_sum_reference(const PointBlock& a, const PointBlock& b) {
    double total = 0;
    for_each_four_reference(a, b, [&](std::size_t i, const float(&sums)[4][16]) {
        float weight[4] = {};
        for (std::size_t k = 0; k < 4 && i + k < a.count; ++k)
            weight[k] = a.weights != nullptr ? a.weights[i + k] : 1.0f;
        for (std::size_t lane = 0; lane < 16; ++lane)
            total += static_cast<double>((sums[0][lane] * weight[0] + sums[1][lane] * weight[1]) +
                                         (sums[2][lane] * weight[2] + sums[3][lane] * weight[3]));
    });
    return total;
}

inline void row_sums_reference(const PointBlock& a, const PointBlock& b, double* sums) {
    for_each_four_reference(a, b, [&](std::size_t i, const float(&four)[4][16]) {
        for (std::size_t k = 0; k < 4 && i + k < a.count; ++k)
            for (const float value : four[k]) sums[i + k] += static_cast<double>(value);
    });
}

inline double quadratic_form_reference(const float* table, const float* histogram, std::size_t size) {
    double total = 0;
    for (std::size_t a = 0; a < size; ++a) {
        if (histogram[a] == 0) continue;
        float lanes[kTableLanes] = {};
        for (std::size_t b = a / kTableLanes * kTableLanes; b < size; ++b)
            lanes[b % kTableLanes] += table[a * size + b] * histogram[b];
        for (std::size_t half = kTableLanes / 2; half > 0; half /= 2)
            for (std::size_t k = 0; k < half; ++k) lanes[k] = lanes[k] + lanes[k + half];
        total += static_cast<double>(histogram[a]) * static_cast<double>(lanes[0]);
    }
    return total;
}

}  // namespace kandinsky::partition::genann
