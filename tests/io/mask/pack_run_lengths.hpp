#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kandinsky {

/// The text form of run lengths, as io/mask/mask.hpp describes it.
inline std::string pack_run_lengths(std::span<const std::int64_t> runs) {
    std::string text;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::int64_t value = runs[i] - (i > 2 ? runs[i - 2] : 0);
        for (bool more = true; more;) {
            const auto group = static_cast<unsigned>(value & 0x1f);
            value >>= 5;
            more = value != ((group & 0x10) != 0 ? -1 : 0);
            text += static_cast<char>('0' + (group | (more ? 0x20 : 0)));
        }
    }
    return text;
}

}  // namespace kandinsky
