#pragma once

#include <filesystem>
#include <kandinsky/calibrator.hpp>

namespace kandinsky {

/// The version of the .kcal format that this library writes. It reads this and all earlier ones.
inline constexpr int kKcalVersion = 6;

/// Writes a calibrator: a zip of .npy members plus meta.json, stored, that numpy.load opens. Equal
/// calibrators give equal bytes. Atomic: the file is complete or untouched.
void save(const Calibrator& calibrator, const std::filesystem::path& path);

/// Reads a calibrator. Throws a data error when the file is damaged, truncated, newer than this library or no
/// .kcal at all.
[[nodiscard]] Calibrator load(const std::filesystem::path& path);

/// Everything except the arrays, as the JSON object that meta.json holds.
[[nodiscard]] std::string describe(const Calibrator& calibrator);

}  // namespace kandinsky
