#pragma once

#include <cstddef>
#include <kandinsky/export.hpp>
#include <string_view>

namespace KANDINSKY_API kandinsky {

/// Receives the progress of long work and may stop it. Both functions may be called from any thread.
class Progress {
  public:
    virtual ~Progress() = default;
    /// `done` of `total` steps of a stage are done. One call at a time. Reports of several threads may arrive
    /// out of order, so `done` may decrease.
    virtual void update(std::string_view /*stage*/, std::size_t /*done*/, std::size_t /*total*/) {}
    /// Polled often, by several threads at once. After it returns true, the running function throws
    /// Interrupted.
    [[nodiscard]] virtual bool cancelled() const { return false; }
};

/// A Progress that ignores all reports.
Progress& silent();

}  // namespace kandinsky
