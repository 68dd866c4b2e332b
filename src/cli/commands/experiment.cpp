#include "model/experiment.hpp"

#include <algorithm>

#include "cli/commands/command.hpp"
#include "cli/commands/model_flags.hpp"
#include "cli/options/report_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/stopwatch.hpp"
#include "core/data/elements.hpp"
#include "io/array/npy.hpp"
#include "io/file/mapped_file.hpp"
#include "io/zip/crc32.hpp"
#include "model/image_reading.hpp"
#include "model/model_file.hpp"
#include "model/plugin.hpp"
#include "report/page/page.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace {
namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Flags {
    CommonFlags common;
    DeviceFlags device;
    std::string name, data, output, model;
    std::size_t batch = 16;
    std::uint64_t epochs = 0;
};

constexpr std::pair<Part, const char*> kParts[] = {
    {Part::train, "train"}, {Part::calibration, "calibration"}, {Part::test, "test"}};

/// Names and sizes of a file or of the files in a folder, to detect that the data have changed.
std::string listing(const fs::path& path) {
    std::error_code problem;
    if (fs::is_regular_file(path, problem))
        return fmt::format("{}:{}", path.filename().string(), fs::file_size(path, problem));
    std::vector<std::string> entries;
    for (fs::directory_iterator entry(path, problem), end; !problem && entry != end; entry.increment(problem))
        if (entry->is_regular_file(problem) && entry->path().filename().string().front() != '.')
            entries.push_back(
                fmt::format("{}:{}", entry->path().filename().string(), entry->file_size(problem)));
    if (problem) fail(ErrorKind::file, "cannot read {}: {}", path.string(), problem.message());
    std::sort(entries.begin(), entries.end());
    const std::string all = fmt::format("{}", fmt::join(entries, "\n"));
    return fmt::format("{} files, {:08x}", entries.size(), crc32_of(all.data(), all.size()));
}

/// The run of an experiment: its files, and the stages that write them.
class ExperimentRun {
  public:
    ExperimentRun(const Flags& flags, Experiment experiment)
        : flags_(flags),
          experiment_(std::move(experiment)),
          folder_(flags.output),
          progress_(flags.common.quiet) {
        if (flags.epochs > 0) experiment_.training.epochs = flags.epochs;
        experiment_.training.intensity = experiment_.intensity;
    }

    void all() {
        make_folder(folder_);
        stage("prepare", prepare_recipe(),
              {"train_images.npy", "train_labels.npy", "train_groups.npy", "calibration_images.npy",
               "calibration_labels.npy", "calibration_groups.npy", "test_images.npy", "test_labels.npy",
               "test_groups.npy"},
              [&] { prepare(); });
        if (flags_.model.empty()) {
            const std::string training = training_text(samples("train"), experiment_.training);
            stage("train",
                  fmt::format("width {} depth {} outputs {} {}", experiment_.training.shape.width,
                              experiment_.training.shape.depth, experiment_.outputs, training),
                  {"unet.pt", "training.csv"}, [&] { train_model(); });
        } else {
            const MappedFile file = map_file(flags_.model);
            recipe_ += fmt::format("model {:08x}\n", crc32_of(file.bytes.data(), file.bytes.size()));
        }
        stage("infer", "float16 intensity " + experiment_.intensity,
              {"calibration_probs.npy", "test_probs.npy", "dice.json"}, [&] { infer_parts(); });
        std::vector<std::string> results{"results.json", "table.txt"};
        if (has_report_template()) results.emplace_back("report.html");
        stage("compare",
              ordered_json{{"methods", experiment_.methods},
                           {"classes", experiment_.classes},
                           {"names", experiment_.class_names},
                           {"options", experiment_.settings},
                           {"version", KANDINSKY_VERSION}}
                  .dump(),
              results, [&] { compare_methods(); });
        if (flags_.common.quiet) return;
        const MappedFile table = map_file(folder_ / "table.txt"), dice = map_file(folder_ / "dice.json");
        print(fmt::format("Dice on the test images: {}\n", ordered_json::parse(dice.text()).dump()));
        print(table.text());
    }

  private:
    void stage(const std::string& name, const std::string& recipe, const std::vector<std::string>& outputs,
               const std::function<void()>& work) {
        recipe_ += name + ": " + recipe + "\n";
        const Stopwatch watch;
        const bool worked = run_stage(folder_, {name, recipe_, outputs, work});
        progress_.clear();
        if (!flags_.common.quiet)
            print(worked ? fmt::format("{}: done in {:.1f} s\n", name, watch.seconds())
                         : fmt::format("{}: done already\n", name));
    }

    [[nodiscard]] fs::path file(const std::string& name) const { return folder_ / name; }

    std::string prepare_recipe() const {
        const fs::path data = flags_.data;
        return ordered_json{
            {"images", listing(data / experiment_.images)},
            {"labels", listing(data / experiment_.labels)},
            {"format", experiment_.format},
            {"categories", experiment_.categories},
            {"grid", {experiment_.grid.width, experiment_.grid.height}},
            {"only_annotated", experiment_.only_annotated},
            {"split",
             {experiment_.train, experiment_.calibration, experiment_.test, experiment_.split_seed,
              experiment_.split_file, experiment_.calibration_key}},
            {"split_file", experiment_.split_file.empty() ? "" : listing(data / experiment_.split_file)}}
            .dump();
    }

    void prepare() {
        const fs::path data = flags_.data;
        ImageFiles files;
        files.images = data / experiment_.images;
        files.labels = data / experiment_.labels;
        files.folder.only_annotated = experiment_.only_annotated;
        files.folder.padding = Padding::background;
        if (experiment_.format == "coco") {
            files.folder.coco.options.categories = experiment_.categories;
            files.folder.coco.letterbox = experiment_.grid;
        } else {
            files.folder.fit = {
                .kind = experiment_.format == "png" ? GridFit::Kind::resize : GridFit::Kind::centre,
                .grid = experiment_.grid};
        }
        const ReadImages read = read_model_images(files, progress_);
        const auto parts = split_groups(experiment_, read.names, data);
        for (const auto& [part, name] : kParts) {
            std::vector<std::uint32_t> rows;
            std::vector<std::int64_t> groups;
            for (std::uint32_t i = 0; i < read.origins.size(); ++i)
                if (parts.at(read.names[i]) == part) {
                    rows.push_back(i);
                    groups.push_back(read.groups.empty() ? static_cast<std::int64_t>(i)
                                                         : read.groups.data_as<std::int64_t>()[i]);
                }
            write_rows(read.pixels, rows, fmt::format("{}_images.npy", name));
            write_rows(read.labels, rows, fmt::format("{}_labels.npy", name));
            write_npy(file(fmt::format("{}_groups.npy", name)),
                      Array::copy_of(groups, {groups.size()}).view());
        }
    }

    void write_rows(const Array& array, const std::vector<std::uint32_t>& rows,
                    const std::string& name) const {
        AtomicFile to(file(name));
        write_npy_rows(to, array, rows);
        to.commit();
    }

    [[nodiscard]] Samples samples(const std::string& part) const {
        return {read_npy(file(part + "_images.npy")),
                read_npy(file(part + "_labels.npy")),
                read_npy(file(part + "_groups.npy")),
                intensity_of(experiment_.intensity),
                {255},
                file(part + "_images.npy").string(),
                file(part + "_labels.npy").string()};
    }

    void train_model() {
        TrainOptions options = experiment_.training;
        const Samples learn = samples("train");
        options.shape.inputs = static_cast<std::uint32_t>(learn.channels());
        options.shape.outputs = experiment_.outputs;
        options.checkpoint = file("unet.checkpoint");
        auto network = make_unet(options.shape, flags_.device.options(flags_.common.threads));
        if (!flags_.common.quiet)
            print(fmt::format("U-Net of {:.1f} M weights on {} ({}), {} images\n",
                              static_cast<double>(count_parameters(*network)) / 1e6, network->device(),
                              engine(EngineKind::torch).library(), learn.size()));
        const std::uint64_t every = std::max<std::uint64_t>(1, options.epochs / 10);
        const TrainResult result = train(
            learn, nullptr, options, std::move(network),
            [&](const EpochRow& row) {
                if (flags_.common.quiet || row.epoch % every != 0) return;
                progress_.clear();
                std::string dice;
                for (const double one : row.dice) dice += fmt::format(" {:.3f}", one);
                print(fmt::format("epoch {:>4}  loss {:.4f}  Dice{}  {:.1f} images/s\n", row.epoch, row.loss,
                                  dice, row.images_per_second));
            },
            progress_);
        Outputs outputs{{"model", file("unet.pt").string()}, {"log", file("training.csv").string()}};
        write_trained(outputs.file("model"), learn, options, result);
        outputs.file("log").write(result.log);
        outputs.commit();
        std::error_code ignored;
        fs::remove(file("unet.checkpoint"), ignored);
        if (!flags_.common.quiet) print(fmt::format("training: {:.1f} images/s\n", result.images_per_second));
    }

    void infer_parts() {
        ModelOptions options;
        options.path = flags_.model.empty() ? file("unet.pt").string() : flags_.model;
        options.engine = flags_.device.options(flags_.common.threads);
        OpenedModel model = open_model(options);
        for (const std::string& part : {std::string("calibration"), std::string("test")}) {
            const Array probs = infer_all(model, samples(part), flags_.batch, "float16", progress_);
            write_npy(file(part + "_probs.npy"), probs.view());
        }
        AtomicFile overlap(file("dice.json"));
        overlap.write(test_dice().dump(1) + "\n");
        overlap.commit();
    }

    /// The name of an output; a single output stands for class 1.
    [[nodiscard]] std::string class_name(std::size_t output, std::size_t outputs) const {
        const std::size_t named = outputs == 1 ? 1 : output;
        return named < experiment_.class_names.size() ? experiment_.class_names[named]
                                                      : fmt::format("class {}", named);
    }

    /// The Dice coefficient of the network for each class in the test images.
    [[nodiscard]] ordered_json test_dice() const {
        const Samples test = samples("test");
        const Array probs = read_npy(file("test_probs.npy"));
        const std::size_t outputs = probs.shape()[1], pixels = test.grid().pixels();
        std::vector<Dice> dice(test.size(), Dice(outputs));
        parallel_for(test.size(), [&](std::size_t i) {
            std::vector<float> p(outputs * pixels);
            std::vector<std::uint8_t> targets(outputs * pixels), valid(pixels);
            convert_elements(probs.view().at(i), probs.dtype(),
                             static_cast<std::ptrdiff_t>(size_of(probs.dtype())), p.size(), p.data());
            test.read_targets(i, outputs, targets.data(), valid.data());
            dice[i].add(pixels, p.data(), targets.data(), valid.data());
        });
        Dice all(outputs);
        for (const Dice& one : dice) all.add(one);
        ordered_json out = ordered_json::object();
        for (std::size_t c = 0; c < outputs; ++c) out[class_name(c, outputs)] = number(all.value(c));
        return out;
    }

    [[nodiscard]] Dataset dataset(const std::string& part) const {
        DatasetOptions options;
        options.probs_name = file(part + "_probs.npy").string();
        options.labels_name = file(part + "_labels.npy").string();
        options.groups_name = file(part + "_groups.npy").string();
        return {read_npy(options.probs_name), read_npy(options.labels_name), read_npy(options.groups_name),
                options};
    }

    /// The log of the training for the report: epochs, losses, and the Dice coefficients of each class.
    [[nodiscard]] ordered_json training_json() const {
        const MappedFile log = map_file(file("training.csv"));
        ordered_json epochs = ordered_json::array(), losses = ordered_json::array(), dice;
        for (std::uint32_t c = 0; c < experiment_.outputs; ++c)
            dice.push_back({{"name", class_name(c, experiment_.outputs)}, {"values", ordered_json::array()}});
        bool head = true;
        for (const std::string& line : split(std::string(log.text()), '\n')) {
            if (std::exchange(head, false)) continue;
            std::vector<std::string> cells(1);
            for (const char letter : line)
                if (letter == ',')
                    cells.emplace_back();
                else
                    cells.back() += letter;
            cells.resize(5 + experiment_.outputs);
            epochs.push_back(std::stoull(cells[0]));
            losses.push_back(std::stod(cells[4]));
            for (std::uint32_t c = 0; c < experiment_.outputs; ++c)
                dice[c]["values"].push_back(cells[5 + c].empty() ? ordered_json(nullptr)
                                                                 : ordered_json(std::stod(cells[5 + c])));
        }
        return {{"epoch", epochs}, {"loss", losses}, {"dice", dice}};
    }

    void compare_methods() {
        const Dataset calibration = dataset("calibration"), test = dataset("test");
        CompareOptions options;
        options.methods = experiment_.methods;
        for (const auto& [key, value] : experiment_.settings.items())
            options.calibrate.method.settings.text[key] =
                value.is_string() ? value.get<std::string>() : value.dump();
        const auto [comparison, tally] =
            has_report_template() ? compare_closely(calibration, test, options, progress_)
                                  : ExaminedComparison{compare(calibration, test, options, progress_), {}};
        if (has_report_template()) {
            ReportFlags report;
            report.page = file("report.html").string();
            report.title = experiment_.about.empty() ? experiment_.name : experiment_.about;
            report.class_names = fmt::format("{}", fmt::join(experiment_.class_names, ","));
            Outputs outputs{{"--report", report.page}};
            ReportInput input = report_input(comparison, calibration, test, experiment_.classes);
            if (flags_.model.empty()) input.training = training_json();
            report.write(std::move(input), tally, outputs, "--report");
            outputs.commit();
        }
        Outputs results{{"json", file("results.json").string()}, {"table", file("table.txt").string()}};
        results.file("json").write(comparison_json(comparison, experiment_.classes).dump(1) + "\n");
        results.file("table").write(comparison_table(comparison, experiment_.classes));
        results.commit();
    }

    const Flags& flags_;
    Experiment experiment_;
    fs::path folder_;
    TerminalProgress progress_;
    std::string recipe_;
};

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    ExperimentRun(flags, read_experiment(find_experiment(flags.name))).all();
}
}  // namespace

Command add_experiment(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "experiment",
                                       "Run a whole experiment, from raw files to the table and the report");
    app.add_option("name", flags->name,
                   "name of an experiment of this project (coco-s, ...), or a .json file")
        ->required();
    app.input("--data", flags->data, "DIR", "folder of the raw files")->required();
    app.output("-o,--output", flags->output, "DIR",
               "folder of the run; stages whose outputs exist and are up to date are skipped")
        ->required();
    app.input("--model", flags->model, "FILE", "trained model to use instead of training one");
    app.add_option("--epochs", flags->epochs,
                   "number of passes over the training images (default: that of the experiment)")
        ->default_str("");
    app.add_option("--batch", flags->batch, "number of images in a batch during inference");
    app.counts_unless("--epochs", [flags = flags.get()] {
        return unless(flags->model.empty(), "the network of --model is trained already");
    });
    flags->device.declare(app);
    flags->common.declare(app);
    app.footer(
        "Example (with the Decathlon's hippocampus task in Task04_Hippocampus):\n"
        "  kandinsky experiment hippocampus-s --data Task04_Hippocampus -o runs/hippocampus-s");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
