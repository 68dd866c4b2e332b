#pragma once

#include <cstddef>
#include <functional>
#include <kandinsky/progress.hpp>
#include <string_view>

namespace kandinsky {

/// Runs body(i) for i in [0, n) on the threads allowed by ThreadLimit. Exceptions reach the caller. Which
/// thread runs which index is unspecified: bodies must not let it show in results.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body);

/// The same with progress reports (at most some 200) and cancellation between indices.
void parallel_for(std::size_t n, Progress& progress, std::string_view stage,
                  const std::function<void(std::size_t)>& body);

}  // namespace kandinsky
