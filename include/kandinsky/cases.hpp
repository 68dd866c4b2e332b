#pragma once

#include <array>
#include <kandinsky/dataset.hpp>
#include <kandinsky/export.hpp>
#include <kandinsky/progress.hpp>
#include <memory>

namespace KANDINSKY_API kandinsky {

/// Voxels of an image (depth 1) or of a volume, along z, y and x.
struct Extent {
    std::size_t depth = 1;   ///< slices
    std::size_t height = 0;  ///< rows
    std::size_t width = 0;   ///< columns

    [[nodiscard]] std::size_t voxels() const { return depth * height * width; }  ///< number of voxels
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// Distances between neighbouring voxels along z, y and x.
using Spacing = std::array<double, 3>;

/// The unit of a spacing.
enum class LengthUnit {
    pixel,       ///< unknown: neighbouring pixels have distance 1
    millimetre,  ///< given by the files or the user
};

/// One image or volume: the model's probabilities and, if known, the truth.
struct Case {
    Extent extent;             ///< size in voxels
    Spacing spacing{1, 1, 1};  ///< between neighbouring voxels
    std::vector<float> probs;  ///< [class][voxel]
    std::vector<std::uint8_t>
        member;                       ///< [class][voxel] 1 where the voxel has the class; empty without truth
    std::vector<std::uint8_t> valid;  ///< [voxel] 0 where the label is ignored; empty without truth
};

/// Images or volumes, read one at a time. Cases of one group (a patient) belong together.
class CaseSource {
  public:
    virtual ~CaseSource() = default;

    [[nodiscard]] virtual std::size_t size() const = 0;     ///< number of cases
    [[nodiscard]] virtual std::size_t classes() const = 0;  ///< number of classes, the same for all cases
    [[nodiscard]] virtual bool labelled() const = 0;        ///< there is truth
    [[nodiscard]] virtual std::int64_t group(std::size_t i) const = 0;  ///< id of a case's group
    [[nodiscard]] virtual std::string name(std::size_t i) const = 0;    ///< name of a case in tables
    [[nodiscard]] virtual LengthUnit unit() const = 0;                  ///< of the spacings
    [[nodiscard]] virtual bool volumes() const = 0;                     ///< a case has three dimensions
    /// Reads a case. Thread-safe. Throws a data or file error that names the place.
    [[nodiscard]] virtual Case read(std::size_t i) const = 0;

    /// The images of a data set that are the slices of a case, in order; empty if cases come from files.
    [[nodiscard]] virtual std::vector<std::size_t> images(std::size_t) const { return {}; }

    /// The cases of each group, in ascending order of the group's id.
    [[nodiscard]] std::vector<std::vector<std::size_t>> by_group() const;
};

/// How a data set's images become cases.
struct DatasetCasesOptions {
    bool volumes = false;      ///< the images of a group are the slices of one volume, in their order
    Spacing spacing{1, 1, 1};  ///< of all cases
    LengthUnit unit = LengthUnit::pixel;  ///< of the spacing
};

/// The images of a data set as cases. Keeps a copy of the data set, which shares its arrays. Throws a usage
/// error for volumes without groups, and for a spacing that is not a finite number above 0.
[[nodiscard]] std::unique_ptr<CaseSource> cases_of(const Dataset& data,
                                                   const DatasetCasesOptions& options = {});

}  // namespace kandinsky
