#pragma once

#include <kandinsky/calibrator.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace kandinsky {

/// meta.json of a calibrator.
[[nodiscard]] nlohmann::ordered_json meta_of(const Calibrator& calibrator);

/// What meta.json holds: a calibrator without curves, regions, counts and levels.
struct StoredMeta {
    Calibrator calibrator;
    /// [stratum] of smooth curves, without their arrays: `edges` has its length only.
    std::vector<std::optional<SmoothCurves::Storage>> smooth;
};

/// Reads meta.json.
/// `name` stands in messages. Throws a data error for another format, a newer version, or fields that are
/// missing or make no sense.
[[nodiscard]] StoredMeta from_meta(const nlohmann::ordered_json& meta, const std::string& name);

}  // namespace kandinsky
