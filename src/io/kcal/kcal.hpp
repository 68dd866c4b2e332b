#pragma once

#include <kandinsky/kcal.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "curve/curve_storage.hpp"
#include "io/file/atomic_file.hpp"

namespace kandinsky {

struct Reference;

/// The newest version of the .kcal format. The library reads this and all earlier ones; it writes the oldest
/// one that can store the calibrator.
inline constexpr int kKcalVersion = 6;

/// Writes into a file that the caller commits.
void save(const Calibrator& calibrator, AtomicFile& file);
/// The same with the reference features of the calibration images' outputs.
void save(const Calibrator& calibrator, const Reference& reference, AtomicFile& file);

/// meta.json of a calibrator.
[[nodiscard]] nlohmann::ordered_json meta_of(const Calibrator& calibrator);

/// meta.json without the guarantee's text and the versions, which a new library may change. The result is
/// equal for equal calibrators, and different for other images, options or recalibrated levels.
[[nodiscard]] std::string identity_text(const Calibrator& calibrator);
/// A hash of identity_text() as 16 hexadecimal digits, for users who compare calibrators.
[[nodiscard]] std::string identity_of(const Calibrator& calibrator);

/// The number of features that a file stores for each shift: ImageFeatures::kBasic unless a shift depends
/// on other features.
[[nodiscard]] std::size_t stored_features(const Calibrator& calibrator);

/// The content of meta.json: a calibrator without curves, regions, counts and levels.
struct StoredMeta {
    Calibrator calibrator;
    /// [stratum] smooth curves without their arrays. `edges` has the right length but no values. `region` has
    /// one element if the cells are regions, and is empty otherwise.
    std::vector<std::optional<SmoothStorage>> smooth;
};

/// Reads meta.json. `name`: in messages. Throws a data error for other formats, newer versions, bad fields.
[[nodiscard]] StoredMeta from_meta(const nlohmann::ordered_json& meta, const std::string& name);

}  // namespace kandinsky
