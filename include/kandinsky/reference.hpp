#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <kandinsky/calibrator.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/weights.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// Statistics of the calibration images, with which a Monitor compares a stream. Each is computed from the
/// outputs of one image. A shortfall also needs the image's labels: it is -x, where x is the largest number
/// such that log2(p / (1 - p)) is at least x in a given share of the pixels labelled with a class. The
/// statistic of a group is the mean over its images.
/// Thresholds are never used, so the statistics of calibration and new images are exchangeable.
/// docs/monitoring.md has the formulas.
struct Reference {
    static constexpr std::size_t kWhole = 8;  ///< features of a class in the whole image
    /// The names of the features; the first four are those of ImageFeatures.
    static constexpr std::array<std::string_view, kWhole> kNames{
        "doubt", "area", "inside", "stray", "odds inside", "odds outside", "balance", "roughness"};

    /// Shares of a class's own pixels whose odds are watched where there are labels, descending.
    static constexpr std::array kShares{0.9, 0.75, 0.5};

    std::vector<std::uint32_t> classes{};  ///< classes with features, ascending
    std::uint32_t blocks = 0;              ///< an image is cut into blocks x blocks regions; 0: none
    std::size_t units = 0;                 ///< number of images or groups
    std::vector<float> values{};  ///< [class][kWhole features, then the area in each region][unit], ascending

    std::vector<std::uint32_t> labelled{};  ///< classes with shortfalls, ascending; none: no labels
    /// shortfalls[i * kShares.size() + k] are those of class labelled[i] and share kShares[k] in the units
    /// that have the class, or in a random sample of them if there are many; ascending.
    std::vector<std::vector<float>> shortfalls{};

    /// Number of features of a class, including those of its regions.
    [[nodiscard]] std::size_t per_class() const { return kWhole + std::size_t{blocks} * blocks; }
    /// Number of features of an image.
    [[nodiscard]] std::size_t features() const { return classes.size() * per_class(); }
    friend bool operator==(const Reference&, const Reference&) = default;
};

/// The reference of `data`, the images from which `calibrator` was made. It has one unit for each group, or
/// for each group of a sample if there are many; at most 500 KB. Does not depend on the order of the images
/// or on threads. With the weights of the calibration, a group is used with probability weight / bound, so
/// that the units are like groups of the new population. Throws a data error for bad values or weights, and
/// Interrupted when `progress` asks to stop.
[[nodiscard]] Reference make_reference(const Calibrator& calibrator, const Dataset& data,
                                       Progress& progress = silent(), const GroupWeights& weights = {});

/// Writes a calibrator and its reference into one .kcal file. load() reads the calibrator from it.
void save(const Calibrator& calibrator, const Reference& reference, const std::filesystem::path& path);

/// The reference of a .kcal file; nothing if the file has no reference. Throws as load().
[[nodiscard]] std::optional<Reference> load_reference(const std::filesystem::path& path);

}  // namespace kandinsky
