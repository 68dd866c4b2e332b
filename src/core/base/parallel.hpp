#pragma once

#include <cstddef>
#include <functional>
#include <kandinsky/progress.hpp>
#include <string_view>

namespace kandinsky {

/// Runs body(i) for i in [0, n) on the threads allowed by ThreadLimit. If bodies throw, some indices may be
/// skipped, and one of the exceptions is rethrown in the caller. The assignment of indices to threads is
/// unspecified; results must not depend on it.
void parallel_for(std::size_t n, const std::function<void(std::size_t)>& body);

/// The same with at most 400 progress reports, and cancellation between indices.
void parallel_for(std::size_t n, Progress& progress, std::string_view stage,
                  const std::function<void(std::size_t)>& body);

}  // namespace kandinsky
