#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "model/train.hpp"

namespace kandinsky {

/// An experiment as experiments/NAME.json declares it.
struct Experiment {
    std::string name, about;
    // data
    std::string format;                   ///< decathlon, coco or png
    std::string images, labels;           ///< below the data folder
    std::vector<std::string> categories;  ///< COCO
    Grid grid;
    bool only_annotated = false;
    std::string intensity;
    std::vector<std::string> class_names;
    // split: number of groups in each part, or a file with their names
    std::uint64_t train = 0, calibration = 0, test = 0;
    std::string split_file, calibration_key = "cal";
    std::uint64_t split_seed = 0;
    // model and training
    TrainOptions training;
    std::uint32_t outputs = 0;
    // comparison
    std::vector<std::string> methods;
    std::vector<int> classes;
    nlohmann::ordered_json settings;  ///< options of the methods, by their names on the command line
};

/// Reads a declaration. Throws a data error that names the file and the entry if an entry is missing, unknown
/// or of the wrong type.
[[nodiscard]] Experiment read_experiment(const std::filesystem::path& file);

/// The file of an experiment's declaration: the given file, or NAME.json in the folder "experiments" or among
/// the program's experiments. Throws a usage error with the known names.
[[nodiscard]] std::filesystem::path find_experiment(const std::string& name);

/// The part of the split that a group belongs to.
enum class Part { none, train, calibration, test };
/// Assigns a part to each group. `names`: the names of the groups (scans or photos); may have duplicates. The
/// parts are drawn by name, or read from the split file in the data folder, which has lists of names under
/// "train", the calibration key and "test".
[[nodiscard]] std::map<std::string, Part> split_groups(const Experiment& experiment,
                                                       const std::vector<std::string>& names,
                                                       const std::filesystem::path& data);

/// One step of an experiment, which writes files into the run's folder from earlier files. A note NAME.done
/// beside them records the recipe and the files' sizes and checksums for later runs.
struct Stage {
    std::string name;
    std::string recipe;                ///< a text with everything that the outputs depend on
    std::vector<std::string> outputs;  ///< names within the folder
    std::function<void()> work;
};

/// Does the stage's work unless it is done already; returns whether it did. The recipe of a later stage
/// should contain the recipes of earlier stages.
bool run_stage(const std::filesystem::path& folder, const Stage& stage);

}  // namespace kandinsky
