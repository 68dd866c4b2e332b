#pragma once

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/result.hpp>

namespace KANDINSKY_API kandinsky {

/// Writes a calibrator: a zip of .npy members plus meta.json, stored, that numpy.load opens. Equal
/// calibrators give equal bytes. Atomic: the file is complete or untouched.
void save(const Calibrator& calibrator, const std::filesystem::path& path);

/// Reads a calibrator. Throws a data error when the file is damaged, truncated, newer than this library or no
/// .kcal at all.
[[nodiscard]] Calibrator load(const std::filesystem::path& path);

/// load() without exceptions.
[[nodiscard]] Result<Calibrator> try_load(const std::filesystem::path& path) noexcept;

/// Everything except the arrays, as the JSON object that meta.json holds.
[[nodiscard]] std::string describe(const Calibrator& calibrator);

}  // namespace kandinsky
