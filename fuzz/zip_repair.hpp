#pragma once

#include <kandinsky/npz.hpp>
#include <string>
#include <string_view>

namespace kandinsky::fuzz {

/// The archive with corrected checksums, so that mutations reach the content. Checksums detect accidents; an
/// attacker would correct them. Bytes that are not an archive are returned unchanged.
std::string with_right_checksums(std::string_view archive);

}  // namespace kandinsky::fuzz
