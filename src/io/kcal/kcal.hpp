#pragma once

#include <kandinsky/kcal.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/file/atomic_file.hpp"

namespace kandinsky {

struct Reference;

/// Writes into a file that the caller commits.
void save(const Calibrator& calibrator, AtomicFile& file);
/// The same with the reference features of its images' outputs.
void save(const Calibrator& calibrator, const Reference& reference, AtomicFile& file);

/// meta.json of a calibrator.
[[nodiscard]] nlohmann::ordered_json meta_of(const Calibrator& calibrator);

/// How many of an image's features a file has to store: ImageFeatures::kBasic if no level follows the others.
[[nodiscard]] std::size_t stored_features(const Calibrator& calibrator);

/// What meta.json holds: a calibrator without curves, regions, counts and levels.
struct StoredMeta {
    Calibrator calibrator;
    /// [stratum] of smooth curves, without their arrays: `edges` has its length only, `region` one number
    /// where regions are the cells.
    std::vector<std::optional<SmoothCurves::Storage>> smooth;
};

/// Reads meta.json. `name`: in messages. Throws a data error for other formats, newer versions, bad fields.
[[nodiscard]] StoredMeta from_meta(const nlohmann::ordered_json& meta, const std::string& name);

}  // namespace kandinsky
