#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/nifti/format.hpp"

namespace kandinsky::cli {

/// Sets as label maps that viewers of volumes show at once. A class is certain at a voxel whose set is
/// exactly that class, and possible where it is in the set. For each item:
///   NAME_certain_label   c where class c is certain, the number of classes where no class is
///   NAME_CLASS_label     of each class but 0: 2 certain, 1 possible, 0 neither
///   NAME.seg.nrrd        the maps of all classes with names and colours, for 3D Slicer
/// and once, what the numbers mean: certain.txt and possible.txt (ITK-SNAP), certain.ctbl and possible.ctbl
/// (3D Slicer). Slicer takes volumes with 'label' in their name for label maps.
class MaskFiles {
  public:
    /// Throws a usage error where names of classes make the same file names, or for more than 254 classes.
    explicit MaskFiles(std::vector<std::string> class_names);

    /// The maps of an item's sets, 0/1 [slices][classes][height][width].
    void write(const ImageSource& source, std::size_t item, const ItemSets& sets,
               const std::filesystem::path& folder) const;
    void write_descriptions(const std::filesystem::path& folder) const;

  private:
    [[nodiscard]] std::vector<Segment> segments() const;

    std::vector<std::string> names_, stems_;
};

/// Names of the classes: those given, which must be as many as there are classes; else those that the record
/// of a calibrator's input has; else "class 0", ...
[[nodiscard]] std::vector<std::string> names_of_classes(const std::string& given, const std::string& recorded,
                                                        std::size_t classes);

}  // namespace kandinsky::cli
