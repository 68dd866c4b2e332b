#pragma once

#include <kandinsky/npz.hpp>
#include <string>
#include <string_view>

namespace kandinsky::fuzz {

/// The archive with every checksum as its content wants it, so that mutations reach what the checksums
/// protect: they find accidents, and whoever means harm writes the right ones. What is no archive comes back
/// as it is.
std::string with_right_checksums(std::string_view archive);

}  // namespace kandinsky::fuzz
