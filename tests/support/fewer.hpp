#pragma once

#include <cstddef>

namespace kandinsky::test {

/// What tests that repeat one thing many times divide their repetitions by. Sanitizers look for another kind
/// of fault, and are ten to a hundred times as slow; that of threads finds none where one thread does it all.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kFewer = 50;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kFewer = 10;
#else
inline constexpr std::size_t kFewer = 1;
#endif

}  // namespace kandinsky::test
