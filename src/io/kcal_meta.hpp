#pragma once

#include <kandinsky/calibrator.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace kandinsky {

/// meta.json of a calibrator.
[[nodiscard]] nlohmann::ordered_json meta_of(const Calibrator& calibrator);

/// Fills everything that meta.json holds into a calibrator: all but curves, regions, counts and levels.
/// `name` stands in messages. Throws a data error for another format, a newer version, or fields that are
/// missing or make no sense.
[[nodiscard]] Calibrator from_meta(const nlohmann::ordered_json& meta, const std::string& name);

}  // namespace kandinsky
