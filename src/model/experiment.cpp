#include "model/experiment.hpp"

#include <algorithm>
#include <set>

#include "core/base/fail.hpp"
#include "core/base/json_depth.hpp"
#include "core/base/random.hpp"
#include "io/file/atomic_file.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/zip/crc32.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr std::uint64_t kSplit = 0x73706C6974;  // "split"

ordered_json parse_file(const std::filesystem::path& file) {
    const MappedFile content = map_file(file);
    if (nests_deeper(content.text()))
        fail(ErrorKind::data, "{} nests deeper than {}", printable(file.string()), kJsonDepth);
    try {
        return ordered_json::parse(content.text());
    } catch (const nlohmann::json::exception&) {
        fail(ErrorKind::data, "{} is not JSON", printable(file.string()));
    }
}

/// Reads the entries of one object, and throws for entries that were not read.
class Section {
  public:
    Section(const ordered_json& parent, const std::string& name, std::string file)
        : name_(name), file_(std::move(file)) {
        if (name.empty())
            json_ = parent;
        else if (parent.contains(name))
            json_ = parent[name];
        if (json_.is_object()) return;
        if (name.empty()) fail(ErrorKind::data, "{} is not a JSON object", file_);
        fail(ErrorKind::data, "{}: \"{}\" must be an object", file_, name_);
    }
    template <class T>
    void need(const std::string& key, T& value) {
        if (!json_.contains(key)) fail(ErrorKind::data, "{}: {} is missing", file_, full(key));
        take(key, value);
    }
    template <class T>
    void take(const std::string& key, T& value) {
        seen_.insert(key);
        if (!json_.contains(key)) return;
        try {
            value = json_[key].get<T>();
        } catch (const nlohmann::json::exception&) {
            fail(ErrorKind::data, "{}: {} is {}, which is not valid", file_, full(key), json_[key].dump());
        }
    }
    [[noreturn]] void refuse(const std::string& key, const char* wanted) const {
        fail(ErrorKind::data, "{}: {} is {}, but must be {}", file_, full(key), json_[key].dump(), wanted);
    }
    void done() const {
        for (const auto& [key, value] : json_.items())
            if (!seen_.contains(key)) fail(ErrorKind::data, "{}: unknown entry {}", file_, full(key));
    }

  private:
    [[nodiscard]] std::string full(const std::string& key) const {
        return name_.empty() ? '"' + key + '"' : fmt::format("\"{}\" of \"{}\"", key, name_);
    }
    std::string name_, file_;
    ordered_json json_ = ordered_json::object();
    std::set<std::string> seen_;
};

void read_training(Section section, TrainOptions& options, std::uint32_t& outputs) {
    std::string optimizer = "adamw";
    bool augment = true;
    section.take("width", options.shape.width);
    section.take("depth", options.shape.depth);
    section.take("outputs", outputs);
    section.take("epochs", options.epochs);
    section.take("batch", options.batch);
    section.take("optimizer", optimizer);
    section.take("decay", options.decay);
    section.take("seed", options.seed);
    section.take("augment", augment);
    section.take("rate", options.schedule.rate);
    section.take("last_rate", options.schedule.last_rate);
    section.take("warm_up", options.schedule.warm_up);
    section.take("cycle", options.schedule.cycle);
    section.take("growth", options.schedule.growth);
    section.take("share", options.schedule.share);
    section.take("anneal", options.schedule.anneal);
    section.take("checkpoint_every", options.checkpoint_every);
    section.take("mirror", options.augmentation.mirror);
    section.done();
    if (!augment) options.augmentation = Augmentation::none();
    if (optimizer != "adam" && optimizer != "adamw") section.refuse("optimizer", "adam or adamw");
    if (options.batch == 0) section.refuse("batch", "at least 1");
    options.decoupled = optimizer == "adamw";
}

std::filesystem::path note_of(const std::filesystem::path& folder, const Stage& stage) {
    return folder / (stage.name + ".done");
}

ordered_json describe(const std::filesystem::path& file) {
    const MappedFile content = map_file(file);
    return {{"bytes", content.bytes.size()},
            {"crc32", fmt::format("{:08x}", crc32_of(content.bytes.data(), content.bytes.size()))}};
}

/// Whether the stage's note exists and has this recipe, and all outputs have the noted sizes and CRC-32.
bool is_done(const std::filesystem::path& folder, const Stage& stage) {
    std::error_code ignored;
    if (!std::filesystem::exists(note_of(folder, stage), ignored)) return false;
    const MappedFile file = map_file(note_of(folder, stage));
    if (nests_deeper(file.text())) return false;
    const ordered_json note = ordered_json::parse(file.text(), nullptr, false);
    if (!note.is_object() || note.value("recipe", ordered_json()) != stage.recipe ||
        !note.contains("outputs"))
        return false;
    for (const std::string& name : stage.outputs) {
        if (!note["outputs"].contains(name) || !std::filesystem::exists(folder / name, ignored)) return false;
        if (note["outputs"][name] != describe(folder / name)) return false;
    }
    return true;
}
}  // namespace

Experiment read_experiment(const std::filesystem::path& file) {
    const std::string shown = printable(file.string());
    const ordered_json json = parse_file(file);
    Experiment experiment;
    ordered_json ignored;
    Section whole(json, "", shown);
    whole.need("name", experiment.name);
    whole.take("about", experiment.about);
    for (const char* const section : {"data", "split", "training", "compare"}) whole.need(section, ignored);
    whole.done();

    Section data(json, "data", shown);
    std::vector<std::uint32_t> grid;
    data.need("format", experiment.format);
    data.need("images", experiment.images);
    data.need("labels", experiment.labels);
    data.need("grid", grid);
    data.take("categories", experiment.categories);
    data.take("only_annotated", experiment.only_annotated);
    data.need("intensity", experiment.intensity);
    data.take("class_names", experiment.class_names);
    data.done();
    if (grid.size() != 2 || grid[0] == 0 || grid[1] == 0)
        fail(ErrorKind::data, "{}: \"grid\" must be [width, height]", shown);
    experiment.grid = {.height = grid[1], .width = grid[0]};
    if (experiment.format != "decathlon" && experiment.format != "coco" && experiment.format != "png")
        fail(ErrorKind::data, "{}: \"format\" is \"{}\", but must be decathlon, coco or png", shown,
             experiment.format);

    Section split(json, "split", shown);
    split.take("train", experiment.train);
    split.take("calibration", experiment.calibration);
    split.take("test", experiment.test);
    split.take("file", experiment.split_file);
    split.take("calibration_key", experiment.calibration_key);
    split.take("seed", experiment.split_seed);
    split.done();
    if (experiment.split_file.empty() &&
        (experiment.train == 0 || experiment.calibration == 0 || experiment.test == 0))
        fail(ErrorKind::data, "{}: \"split\" needs train, calibration and test, or a file", shown);

    read_training(Section(json, "training", shown), experiment.training, experiment.outputs);

    Section comparison(json, "compare", shown);
    comparison.take("methods", experiment.methods);
    comparison.take("classes", experiment.classes);
    comparison.take("options", experiment.settings);
    comparison.done();
    return experiment;
}

std::filesystem::path find_experiment(const std::string& name) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) return name;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    const fs::path places[] = {"experiments", program / ".." / "share" / "kandinsky" / "experiments",
                               program / ".." / ".." / "experiments"};
    std::set<std::string> known;
    for (const fs::path& place : places) {
        if (fs::is_regular_file(place / (name + ".json"), ignored)) return place / (name + ".json");
        for (fs::directory_iterator entry(place, ignored), end; entry != end; entry.increment(ignored))
            if (entry->path().extension() == ".json") known.insert(entry->path().stem().string());
    }
    fail(ErrorKind::usage, "there is no experiment '{}': give a file, or one of {}", printable(name),
         fmt::join(known, ", "));
}

std::map<std::string, Part> split_groups(const Experiment& experiment, const std::vector<std::string>& names,
                                         const std::filesystem::path& data) {
    std::map<std::string, Part> parts;
    for (const std::string& name : names) parts[name] = Part::none;
    if (!experiment.split_file.empty()) {
        const std::filesystem::path file = data / experiment.split_file;
        const ordered_json json = parse_file(file);
        const std::pair<std::string, Part> keys[] = {
            {"train", Part::train}, {experiment.calibration_key, Part::calibration}, {"test", Part::test}};
        for (const auto& [key, part] : keys) {
            if (!json.contains(key) || !json[key].is_array())
                fail(ErrorKind::data, "{} has no list \"{}\"", printable(file.string()), key);
            for (const auto& entry : json[key]) {
                const std::string name = entry.is_string() ? entry.get<std::string>() : entry.dump();
                const auto found = parts.find(name);
                if (found == parts.end())
                    fail(ErrorKind::data, "{}: \"{}\" lists {}, but nothing has that name",
                         printable(file.string()), key, printable(name));
                if (found->second != Part::none)
                    fail(ErrorKind::data, "{}: {} is in two parts", printable(file.string()),
                         printable(name));
                found->second = part;
            }
        }
        return parts;
    }
    const std::uint64_t wanted = experiment.train + experiment.calibration + experiment.test;
    if (parts.size() < wanted)
        fail(ErrorKind::data, "{} scans or photos are needed ({} + {} + {}), but there are {}", wanted,
             experiment.train, experiment.calibration, experiment.test, parts.size());
    // Sorts by a random number for each name, so that new images do not change the order of the others.
    std::vector<std::pair<std::uint64_t, std::string>> drawn;
    for (const auto& [name, part] : parts) {
        std::uint64_t hash = 0;
        for (const char letter : name) hash = mix(hash ^ static_cast<unsigned char>(letter));
        drawn.emplace_back(Random(experiment.split_seed, kSplit, hash).bits(), name);
    }
    std::sort(drawn.begin(), drawn.end());
    // The test set is taken from the end: it is the same for any size of the calibration set.
    for (std::size_t i = 0; i < drawn.size(); ++i)
        parts[drawn[i].second] = i < experiment.train                            ? Part::train
                                 : i < experiment.train + experiment.calibration ? Part::calibration
                                 : i >= drawn.size() - experiment.test           ? Part::test
                                                                                 : Part::none;
    return parts;
}

bool run_stage(const std::filesystem::path& folder, const Stage& stage) {
    if (is_done(folder, stage)) return false;
    std::error_code ignored;
    std::filesystem::remove(note_of(folder, stage), ignored);
    stage.work();
    ordered_json note{{"stage", stage.name}, {"recipe", stage.recipe}, {"outputs", ordered_json::object()}};
    for (const std::string& name : stage.outputs) {
        if (!std::filesystem::exists(folder / name, ignored))
            fail(ErrorKind::internal, "[experiment] stage {} did not write {}", stage.name, name);
        note["outputs"][name] = describe(folder / name);
    }
    AtomicFile file(note_of(folder, stage));
    file.write(note.dump(1) + "\n");
    file.commit();
    return true;
}

}  // namespace kandinsky
