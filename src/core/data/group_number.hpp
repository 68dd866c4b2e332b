#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace kandinsky {

/// The hash for the numbers of named groups (FNV-1a); never negative. It is part of the file format: do not
/// change it.
[[nodiscard]] inline std::int64_t name_hash(std::string_view name) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return static_cast<std::int64_t>(hash >> 1);
}

/// The number of a named group: the number itself if the name is a number such as "17", otherwise a hash of
/// the name. It depends on the name only, so batches, files and arrays agree.
[[nodiscard]] inline std::int64_t group_number(std::string_view name) {
    std::int64_t number = 0;
    const char* const last = name.data() + name.size();
    const auto [end, status] = std::from_chars(name.data(), last, number);
    const bool plain = status == std::errc() && end == last && std::to_string(number) == name;
    return plain ? number : name_hash(name);
}

}  // namespace kandinsky
