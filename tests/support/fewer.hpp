#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace kandinsky::test {

/// Tests with many repetitions divide their number by this factor. Sanitizer builds are ten to a hundred
/// times as slow and search for other faults. The thread sanitizer finds nothing in code that runs in one
/// thread.
#if defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kFewer = 50;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kFewer = 10;
#else
inline constexpr std::size_t kFewer = 1;
#endif

/// `text`, with searches for regions that end early in sanitizer builds: for tests that do not ask whether
/// the regions are good.
inline std::map<std::string, std::string> short_searches(std::map<std::string, std::string> text = {}) {
    if (kFewer > 1)
        text.insert({{"genann-generations", "10"}, {"fcc-starts", "1"}, {"fcc-iterations", "10"}});
    return text;
}

}  // namespace kandinsky::test
