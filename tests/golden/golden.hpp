#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/evaluate.hpp>
#include <kandinsky/npy.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kandinsky::test {

/// The folder of golden files, or an empty path.
inline std::filesystem::path golden_folder() {
    const char* const shared = std::getenv("KANDINSKY_SHARED");
    const std::filesystem::path base = shared != nullptr
                                           ? std::filesystem::path(shared)
                                           : std::filesystem::path(KANDINSKY_SOURCE_DIR "/../shared");
    const std::filesystem::path folder = base / "golden";
    return std::filesystem::exists(folder / "README.md") ? folder : std::filesystem::path();
}

/// One of the two golden sets: inputs, and what the released code made of them.
class Golden {
  public:
    Golden(const std::string& name, std::size_t classes)
        : folder_(golden_folder() / name), classes_(classes) {
        std::ifstream file(folder_ / "expected.json");
        expected_ = nlohmann::json::parse(file);
    }

    [[nodiscard]] Array array(const std::string& name) const { return read_npy(folder_ / (name + ".npy")); }
    [[nodiscard]] std::vector<double> values(const std::string& name) const {
        return array(name).to_vector<double>();
    }
    [[nodiscard]] const nlohmann::json& expected() const { return expected_; }
    [[nodiscard]] std::size_t classes() const { return classes_; }
    [[nodiscard]] Dataset calibration() const { return {array("cal_probs"), array("cal_labels"), {}}; }
    [[nodiscard]] Dataset test() const { return {array("test_probs"), array("test_labels"), {}}; }

    /// Calibrates as the released code does; `regions` for method mask.
    [[nodiscard]] Calibrator released(const std::string& method, const Array& regions = {}) const {
        CalibrateOptions options;
        options.method = method;
        options.released = true;
        if (!regions.empty()) options.settings.arrays["mask"] = regions;
        return calibrate(calibration(), options);
    }

    /// A calibrator around given curves: `value(point, class, region)` of the same regions for every class.
    template <class Value>
    [[nodiscard]] Calibrator around(const std::vector<std::uint32_t>& region, std::uint32_t regions,
                                    Value&& value) const {
        Calibrator calibrator;
        calibrator.options.released = true;
        calibrator.options.pooling = Pooling::pixels;
        calibrator.options.score.half = true;
        calibrator.options.method = "mask";
        calibrator.grid = {40, 48};
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
    std::size_t classes_;
    nlohmann::json expected_;
};

inline double or_nan(const nlohmann::json& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace kandinsky::test
