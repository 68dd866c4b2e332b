#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace kandinsky::test {

/// An option as messages of the library name it: "kmeans-clusters" is `kmeans_clusters`.
inline std::string parameter(std::string flag) {
    std::replace(flag.begin(), flag.end(), '-', '_');
    return fmt::format("`{}`", flag);
}

}  // namespace kandinsky::test
