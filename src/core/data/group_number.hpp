#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace kandinsky {

/// The hash behind the numbers of named groups (FNV-1a), the same everywhere and for ever. Never negative.
[[nodiscard]] inline std::int64_t name_hash(std::string_view name) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return static_cast<std::int64_t>(hash >> 1);
}

/// The number of a group that has a name: the number that the name is, as in "17", or else a hash of it. It
/// depends on the name alone, so that batches, files and arrays agree.
[[nodiscard]] inline std::int64_t group_number(std::string_view name) {
    std::int64_t number = 0;
    const char* const last = name.data() + name.size();
    const auto [end, status] = std::from_chars(name.data(), last, number);
    const bool plain = status == std::errc() && end == last && std::to_string(number) == name;
    return plain ? number : name_hash(name);
}

}  // namespace kandinsky
