#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/nifti/format.hpp"

namespace kandinsky::cli {

/// Sets as label maps for viewers of volumes. A class is certain at a voxel whose set contains only that
/// class, and possible where it is in the set. For each item:
///   NAME_certain_label   c where class c is certain, elsewhere the number of classes
///   NAME_CLASS_label     for each class except 0: 2 certain, 1 possible, 0 neither
///   NAME.seg.nrrd        the maps of all classes with names and colours, for 3D Slicer
/// The meaning of the numbers is in certain.txt and possible.txt (ITK-SNAP), and in certain.ctbl and
/// possible.ctbl (3D Slicer). Slicer treats volumes with 'label' in their name as label maps.
class MaskFiles {
  public:
    /// Throws a usage error if two classes have the same file name, or for more than 254 classes.
    explicit MaskFiles(std::vector<std::string> class_names);

    /// Writes the maps of an item. `sets` has 0 or 1 for each [slice][class][row][column].
    void write(const ImageSource& source, std::size_t item, const ItemSets& sets,
               const std::filesystem::path& folder) const;
    void write_descriptions(const std::filesystem::path& folder) const;

  private:
    [[nodiscard]] std::vector<Segment> segments() const;

    std::vector<std::string> names_, stems_;
};

/// Names of the classes: the given names, one for each class; otherwise the names in a calibrator's record of
/// its input; otherwise "class 0", ... Throws a usage error if the number of given names is wrong.
[[nodiscard]] std::vector<std::string> names_of_classes(const std::string& given, const std::string& recorded,
                                                        std::size_t classes);

}  // namespace kandinsky::cli
