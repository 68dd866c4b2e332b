#pragma once

#include <cstdint>

namespace kandinsky {

/// E|X/n - target| for X binomial(n, level), exactly: the coverage error that n samples cause by themselves.
/// NaN if n is 0. Thread-safe.
[[nodiscard]] double sampling_floor(std::uint64_t n, double level, double target);

}  // namespace kandinsky
