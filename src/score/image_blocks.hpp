#pragma once

#include "score/visit.hpp"

namespace kandinsky {

/// visit_tiles_of() under its former name.
template <class Body>
void pass_images(const Dataset& data, std::size_t first, std::size_t last, std::size_t tiles,
                 Progress& progress, std::string_view stage, Body&& body) {
    visit_tiles_of({.data = data, .progress = progress, .stage = stage}, first, last, tiles, body);
}

}  // namespace kandinsky
