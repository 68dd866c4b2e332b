#pragma once

#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/result.hpp>

namespace KANDINSKY_API kandinsky {

/// Writes a calibrator as an uncompressed zip of .npy members and meta.json, which numpy.load opens. Equal
/// calibrators give equal bytes. Atomic: the file is complete or untouched. Throws a file error if it cannot
/// be written.
void save(const Calibrator& calibrator, const std::filesystem::path& path);

/// Reads a calibrator. Throws a file error if the file cannot be read, and a data error if it is damaged,
/// truncated, newer than this library or not a .kcal file.
[[nodiscard]] Calibrator load(const std::filesystem::path& path);

/// load() without exceptions.
[[nodiscard]] Result<Calibrator> try_load(const std::filesystem::path& path) noexcept;

/// Everything except the arrays, as the JSON object that meta.json holds.
[[nodiscard]] std::string describe(const Calibrator& calibrator);

}  // namespace kandinsky
