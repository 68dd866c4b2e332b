#include "cli/commands/mask_files.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/options/words.hpp"
#include "core/base/fail.hpp"
#include "io/file/atomic_file.hpp"
#include "io/file/printable.hpp"
#include "io/nifti/format.hpp"
#include "report/figure/palette.hpp"
#include "report/page/report_data.hpp"

namespace kandinsky::cli {

namespace {
/// A number in a label map, with its meaning and its colour.
struct Entry {
    std::size_t number;
    std::string name;
    Rgb colour;
};

constexpr Rgb kGrey{200, 200, 200}, kYellow{255, 215, 0}, kGreen{0, 140, 60};
constexpr std::uint8_t kPossible = 1, kCertain = 2;  // in the maps of single classes

/// A class name as part of a file's name. Letters outside ASCII stay; other signs become "_".
std::string stem_of(const std::string& name) {
    std::string out = name;
    for (char& letter : out) {
        const auto code = static_cast<unsigned char>(letter);
        if (code < 0x80 && std::isalnum(code) == 0 && letter != '-') letter = '_';
    }
    return out.empty() ? "_" : out;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

/// Tables of a label map for both viewers: NAME.txt and NAME.ctbl.
void write_tables(const std::filesystem::path& folder, const std::string& name,
                  const std::vector<Entry>& entries) {
    std::string snap = "# ITK-SnAP Label Description File\n# IDX   -R-  -G-  -B-  -A--  VIS MSH  LABEL\n";
    std::string slicer = "# Color table file " + name + ".ctbl\n";
    snap += "    0     0    0    0        0  0  0    \"Clear Label\"\n";
    slicer += "0 none 0 0 0 0\n";
    for (const auto& [number, label, colour] : entries) {
        snap += fmt::format("{:5} {:5} {:4} {:4}        1  1  1    \"{}\"\n", number, colour[0], colour[1],
                            colour[2], label);
        std::string word = label;  // names in a colour table cannot have blanks
        std::replace(word.begin(), word.end(), ' ', '_');
        slicer += fmt::format("{} {} {} {} {} 255\n", number, word, colour[0], colour[1], colour[2]);
    }
    write_text(folder / (name + ".txt"), snap);
    write_text(folder / (name + ".ctbl"), slicer);
}
}  // namespace

MaskFiles::MaskFiles(std::vector<std::string> class_names) : names_(std::move(class_names)) {
    if (names_.size() > 254)
        fail(ErrorKind::usage,
             "--coding masks supports at most 254 classes, but there are {}; use --coding planes",
             names_.size());
    std::set<std::string> taken{"certain"};
    for (std::string& name : names_) {
        name = printable(name);
        std::replace(name.begin(), name.end(), '"', '\'');
        stems_.push_back(stem_of(name));
        if (stems_.size() > 1 && !taken.insert(stems_.back()).second)
            fail(ErrorKind::usage, "--class-names: class {} would be written to the same file as another",
                 name);
    }
}

void MaskFiles::write(const ImageSource& source, std::size_t item, const ItemSets& sets,
                      const std::filesystem::path& folder) const {
    const ItemInfo& info = source.items()[item];
    const std::size_t pixels = info.height * info.width, classes = sets.classes;
    const auto undecided = static_cast<std::uint8_t>(classes);
    std::vector<std::uint8_t> certain(info.slices * pixels), map(certain.size());
    const auto member = [&](std::size_t voxel, std::size_t c) {
        return sets.values[(voxel / pixels * classes + c) * pixels + voxel % pixels] != 0;
    };
    for (std::size_t v = 0; v < certain.size(); ++v) {
        std::size_t count = 0;
        for (std::size_t c = 0; c < classes; ++c)
            if (member(v, c)) certain[v] = static_cast<std::uint8_t>(c), ++count;
        if (count != 1) certain[v] = undecided;
    }
    const auto put = [&](const std::string& which, const std::vector<std::uint8_t>& values) {
        std::string name = sets.name + "_" + which + "_label";
        source.write_sets(item, {name, values.data(), 1, SetCoding::planes, sets.note}, folder);
        return name;
    };
    put("certain", certain);
    std::vector<std::string> maps;
    for (std::size_t c = 1; c < classes; ++c) {
        for (std::size_t v = 0; v < map.size(); ++v)
            map[v] = certain[v] == c ? kCertain : member(v, c) ? kPossible : 0;
        maps.push_back(put(stems_[c], map));
    }
    join_label_maps(folder, sets.name, maps, segments());
}

std::vector<Segment> MaskFiles::segments() const {
    std::vector<Segment> out;
    for (std::size_t c = 1; c < names_.size(); ++c) {
        const Rgb colour = region_colour(c - 1, names_.size() - 1);
        Rgb pale = colour;
        for (auto& part : pale) part = static_cast<std::uint8_t>((part + 255) / 2);
        out.push_back({c - 1, kPossible, names_[c] + ", possible", pale});
        out.push_back({c - 1, kCertain, names_[c] + ", certain", colour});
    }
    return out;
}

void MaskFiles::write_descriptions(const std::filesystem::path& folder) const {
    std::vector<Entry> entries;
    for (std::size_t c = 1; c < names_.size(); ++c)
        entries.push_back({c, names_[c], region_colour(c - 1, names_.size() - 1)});
    entries.push_back({names_.size(), "undecided", kGrey});
    write_tables(folder, "certain", entries);
    write_tables(folder, "possible", {{kPossible, "possible", kYellow}, {kCertain, "certain", kGreen}});
}

std::vector<std::string> names_of_classes(const std::string& given, const std::string& recorded,
                                          std::size_t classes) {
    std::vector<std::string> names = split(given, ',');
    const auto record = nlohmann::json::parse(recorded, nullptr, false);
    if (const auto known = record.is_object() ? record.find("class_names") : record.end();
        names.empty() && record.is_object() && known != record.end() && known->is_array() &&
        known->size() == classes)
        for (const nlohmann::json& name : *known)
            names.push_back(name.is_string() ? name.get<std::string>()
                                             : fmt::format("class {}", names.size()));
    return class_labels(names, classes);
}

}  // namespace kandinsky::cli
