#pragma once

#include <cstddef>

namespace kandinsky {

/// The page that cmake/web.cmake built from web/, or nothing when it could not.
extern const unsigned char kReportTemplate[];
extern const std::size_t kReportTemplateBytes;

}  // namespace kandinsky
