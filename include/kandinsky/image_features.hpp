#pragma once

#include <array>
#include <cstddef>
#include <kandinsky/export.hpp>
#include <span>
#include <string_view>

namespace KANDINSKY_API kandinsky {

/// Features of one image, computed from the probabilities of one class. They need no label and indicate how
/// hard the image is. All are finite and bounded for any image. docs/adapt.md has the formulas.
struct ImageFeatures {
    static constexpr std::size_t kCount = 6;  ///< number of features
    static constexpr std::size_t kBasic = 4;  ///< weights and monitors use only the first kBasic features
    /// The names of the features.
    static constexpr std::array<std::string_view, kCount> kNames{"doubt", "area", "inside",
                                                                 "stray", "root", "fourth"};

    std::array<double, kCount> values{};  ///< in the order of the names

    friend bool operator==(const ImageFeatures&, const ImageFeatures&) = default;
};

/// The features of one class from its probabilities in a whole image; `probs` must not be empty. One pass, no
/// allocation. NaN counts as 0; values outside [0, 1] count as the nearer end.
[[nodiscard]] ImageFeatures image_features(std::span<const float> probs);

}  // namespace kandinsky
