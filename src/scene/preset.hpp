#pragma once

#include <span>

#include "scene/frame.hpp"

namespace kandinsky::scene {

// Names of the random streams. Each stream is Random(seed, stream + part, n), where n is the number of the
// scene, the patient or the pair of patients.
inline constexpr std::uint64_t kPhotoStream = 0x5CE'0000'0000;
inline constexpr std::uint64_t kMedicalStream = 0x5CE'0001'0000;

/// The output of one scene in the arrays; each plane is stored row by row.
struct ScenePlanes {
    std::span<std::uint16_t> probs;  ///< [C,H,W], half-precision bits
    std::span<std::uint8_t> labels;  ///< [H,W]
};

inline constexpr std::size_t kPhotoClasses = 2;
inline constexpr Grid kPhotoGrid{240, 320};
void make_photo(std::uint64_t seed, std::uint64_t scene, const Frame& frame, const ScenePlanes& out);

inline constexpr std::size_t kMedicalClasses = 3;
inline constexpr Grid kMedicalGrid{128, 128};
void make_medical(std::uint64_t seed, std::uint64_t scene, const Frame& frame, const ScenePlanes& out);

/// The position of a medical scene among the slices of its patient.
struct Slice {
    std::uint64_t patient = 0;
    std::uint32_t index = 0;  ///< from 0
    std::uint32_t count = 0;  ///< 8 to 16
};

/// Two patients together always have 24 slices, so the patient of any scene follows from its number.
[[nodiscard]] Slice slice_of(std::uint64_t seed, std::uint64_t scene);

}  // namespace kandinsky::scene
