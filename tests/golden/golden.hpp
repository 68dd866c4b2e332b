#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/npy.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/zip/zip_reader.hpp"

namespace kandinsky::test {

/// One golden set: inputs, and the released code's outputs for them. The arrays are in arrays.npz or in one
/// file each. A trimmed set lacks some of them (data/README.md); see has().
class Golden {
  public:
    explicit Golden(std::filesystem::path folder) : folder_(std::move(folder)) {
        if (std::filesystem::exists(folder_ / "arrays.npz")) archive_.emplace(folder_ / "arrays.npz");
        std::ifstream file(folder_ / "expected.json");
        expected_ = file ? nlohmann::json::parse(file) : nlohmann::json::object();
        const auto shape = array("cal_probs").shape();
        classes_ = shape[1];
        grid_ = {static_cast<std::uint32_t>(shape[2]), static_cast<std::uint32_t>(shape[3])};
    }

    [[nodiscard]] std::string name() const { return folder_.string(); }
    [[nodiscard]] bool has(const std::string& name) const {
        return archive_ ? archive_->has(name + ".npy") : std::filesystem::exists(folder_ / (name + ".npy"));
    }
    [[nodiscard]] Array array(const std::string& name) const {
        const Array stored = archive_ ? archive_->array(name) : read_npy(folder_ / (name + ".npy"));
        return stored.dtype() == DType::float16 ? Array::copy_of(stored.to_vector<float>(), stored.shape())
                                                : stored;
    }
    [[nodiscard]] std::vector<double> values(const std::string& name) const {
        return array(name).to_vector<double>();
    }
    [[nodiscard]] const nlohmann::json& expected() const { return expected_; }
    [[nodiscard]] std::size_t classes() const { return classes_; }
    [[nodiscard]] Grid grid() const { return grid_; }
    [[nodiscard]] Dataset calibration() const { return {array("cal_probs"), array("cal_labels"), {}}; }
    [[nodiscard]] Dataset test() const { return {array("test_probs"), array("test_labels"), {}}; }
    /// How the names of a class's arrays end. With two classes the arrays are those of class 1.
    [[nodiscard]] std::string suffix(std::size_t c) const {
        return classes_ == 2 ? "" : "_class" + std::to_string(c);
    }

    /// Points 60, 70, 80 and 90 of 100 on the class's pixel curves, [pixel][4]; empty if the set lacks them.
    [[nodiscard]] std::vector<float> features(std::size_t c) const {
        const std::string kept = "features_class" + std::to_string(c);
        if (!has(kept) && !has("pixel_curves")) return {};
        const auto points = array(has(kept) ? kept : "pixel_curves").to_vector<float>();
        std::vector<float> out;
        for (std::size_t p = 0; p < grid_.pixels(); ++p)
            for (std::size_t q = 0; q < 4; ++q)
                out.push_back(points[(has(kept) ? q : (60 + 10 * q) * classes_ + c) * grid_.pixels() + p]);
        return out;
    }

    /// Calibrates as the released code does; `regions` for method mask.
    [[nodiscard]] Calibrator released(const std::string& method, const Array& regions = {}) const {
        CalibrateOptions options{.score = {}};
        options.method.name = method;
        options.released = true;
        if (!regions.empty()) options.method.settings.arrays["mask"] = regions;
        return calibrate(calibration(), options);
    }

    /// A calibrator with the curves `value(point, class, region)`. All classes have the same regions.
    template <class Value>
    [[nodiscard]] Calibrator around(const std::vector<std::uint32_t>& region, std::uint32_t regions,
                                    Value&& value) const {
        Calibrator calibrator;
        calibrator.options.released = true;
        calibrator.options.score = {};
        calibrator.options.pooling = Pooling::pixels;
        calibrator.options.score.half = true;
        calibrator.options.method.name = "mask";
        calibrator.grid = grid_;
        calibrator.classes = classes_;
        calibrator.levels.assign(classes_ * region.size(), CurveLevel::region);
        for (std::size_t c = 0; c < classes_; ++c) {
            calibrator.partitions.push_back({.region = region, .regions = regions});
            CurveSet curves(Ladder::released(), true);
            for (std::uint32_t r = 0; r < regions; ++r) {
                CurveSet::Curve curve{.scores = 1, .groups = 0, .complete = false, .values = {}};
                for (std::size_t k = 0; k < 100; ++k)
                    curve.values.push_back(static_cast<float>(value(k, c, r)));
                if (curve.values.front() != curve.values.front()) curve.scores = 0, curve.values.clear();
                curves.append(curve);
            }
            calibrator.curves.push_back(std::move(curves));
        }
        return calibrator;
    }

  private:
    std::filesystem::path folder_;
    std::optional<ZipReader> archive_;
    std::size_t classes_ = 0;
    Grid grid_;
    nlohmann::json expected_;
};

/// The folder that holds the full sets beside the checkout or in KANDINSKY_SHARED, or an empty path.
inline std::filesystem::path full_golden_folder() {
    const char* const shared = std::getenv("KANDINSKY_SHARED");
    const std::filesystem::path base = shared != nullptr
                                           ? std::filesystem::path(shared)
                                           : std::filesystem::path(KANDINSKY_SOURCE_DIR "/../shared");
    return std::filesystem::exists(base / "golden/binary") ? base / "golden" : std::filesystem::path();
}

/// The trimmed sets of this repository, then the full ones where they are.
inline std::vector<Golden> golden_sets() {
    std::vector<Golden> sets;
    for (const char* name : {"binary", "binary_pixels", "multi", "multi_pixels"})
        sets.emplace_back(std::filesystem::path(KANDINSKY_SOURCE_DIR "/tests/golden/data") / name);
    if (!full_golden_folder().empty())
        for (const char* name : {"binary", "multi"}) sets.emplace_back(full_golden_folder() / name);
    return sets;
}

inline double or_nan(const nlohmann::json& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace kandinsky::test
