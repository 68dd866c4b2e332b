#include <fmt/format.h>

#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>
#include <kandinsky/reference.hpp>
#include <kandinsky/scenes.hpp>
#include <limits>

#include "cli/commands/command.hpp"
#include "cli/options/report_flags.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/stopwatch.hpp"
#include "io/image/grid_fit.hpp"
#include "report/page/page.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace {
constexpr std::size_t kPhotos = 100, kSlices = 360;  // slices of about 30 patients

struct Flags {
    CommonFlags common;
    ReportFlags report;
    std::string output = "kandinsky-demo", preset = "photo", size;
    std::size_t images = 0, test_images = 300;
    std::uint64_t seed = 0;
};

/// All classes except the background.
std::vector<int> foreground(std::size_t classes) {
    std::vector<int> shown;
    for (std::size_t c = 1; c < classes; ++c) shown.push_back(static_cast<int>(c));
    return shown;
}

/// Of the methods whose mean coverage error is at most a tenth above the lowest, the method with the fewest
/// false classes in a set; ties go to the first method.
std::string winner(const Comparison& comparison, const std::vector<int>& classes) {
    struct Place {
        double error = 0, wrong = 0;
    };
    std::vector<Place> places(comparison.calibrators.size());
    for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
        const CompareRow& row = comparison.rows[r];
        Place& place = places[r % places.size()];
        if (is_wanted(row.cls, classes) && std::isfinite(row.mean_ce)) place.error += row.mean_ce;
        place.wrong = row.sets.false_classes;
    }
    const auto by = [](double Place::*field) {
        return [field](const Place& a, const Place& b) { return a.*field < b.*field; };
    };
    const double most = 1.1 * std::min_element(places.begin(), places.end(), by(&Place::error))->error;
    for (Place& place : places)
        if (place.error > most) place.wrong = std::numeric_limits<double>::infinity();
    const auto best = std::min_element(places.begin(), places.end(), by(&Place::wrong)) - places.begin();
    return comparison.rows[static_cast<std::size_t>(best)].method;
}

Dataset as_dataset(const Scenes& scenes, const std::string& name) {
    DatasetOptions options;
    options.probs_name = name + "_probs.npy";
    options.labels_name = name + "_labels.npy";
    return {scenes.probs, scenes.labels, scenes.groups, options};
}

void run(const Flags& flags) {
    namespace fs = std::filesystem;
    const ThreadLimit limit(flags.common.threads);
    const Stopwatch watch;
    TerminalProgress progress(flags.common.quiet);
    SceneOptions scene{.preset = flags.preset,
                       .images = flags.images > 0            ? flags.images
                                 : flags.preset == "medical" ? kSlices
                                                             : kPhotos,
                       .seed = flags.seed,
                       .first = 0,
                       .grid = flags.size.empty() ? Grid{} : parse_grid(flags.size, "--size")};
    const Scenes cal = make_scenes(scene, progress);
    scene.first = std::size_t{1} << 20;  // test scenes are never calibration scenes
    scene.images = flags.test_images;
    const Scenes test = make_scenes(scene, progress);
    CompareOptions options;
    options.calibrate.seed = flags.seed;
    options.calibrate.promise = Promise::none;  // for a short demo
    const Dataset cal_data = as_dataset(cal, "cal"), test_data = as_dataset(test, "test");
    flags.report.check(test_data.classes());
    const bool drawn = !flags.report.page.empty() || has_report_template();
    const auto [comparison, tally] =
        drawn || flags.report.wanted()
            ? compare_closely(cal_data, test_data, options, progress)
            : ExaminedComparison{compare(cal_data, test_data, options, progress), {}};

    const Reference reference = make_reference(comparison.calibrators.front(), cal_data, progress);

    const fs::path folder(flags.output);
    make_folder(folder);
    for (const auto& [name, scenes] : {std::pair{"cal", &cal}, std::pair{"test", &test}}) {
        write_npy(folder / (std::string(name) + "_probs.npy"), scenes->probs.view());
        write_npy(folder / (std::string(name) + "_labels.npy"), scenes->labels.view());
        if (!scenes->groups.empty())
            write_npy(folder / (std::string(name) + "_groups.npy"), scenes->groups.view());
    }
    for (const Calibrator& calibrator : comparison.calibrators)
        save(calibrator, reference, folder / (calibrator.options.method.name + ".kcal"));
    const std::string page =
        flags.report.page.empty() ? (folder / "report.html").string() : flags.report.page;
    Outputs outputs{json_output((folder / "compare.json").string()), {"--report", drawn ? page : ""}};
    write_json("compare.json", outputs, comparison_json(comparison, {}));
    if (drawn || flags.report.wanted()) {
        ReportInput input = report_input(comparison, cal_data, test_data, foreground(test_data.classes()));
        input.title = "Demo: scenes that the program drew";
        flags.report.write(std::move(input), tally, outputs, "--report");
    }
    outputs.commit();
    progress.clear();
    if (flags.common.quiet) return;
    const std::vector<int> shown = foreground(test_data.classes());
    const std::string best = winner(comparison, shown);
    print(comparison_table(comparison, shown));
    print(fmt::format(
        "\n{0}: scenes, calibrators and compare.json; {1:.1f} s. Next, with {2}, whose coverage error is "
        "among the lowest and whose sets are small:\n"
        "  kandinsky predict {0}/{2}.kcal --probs {0}/test_probs.npy --alpha 0.1 -o {0}/sets.npy\n"
        "To keep the demo short, these calibrators have no guarantee. A calibrator with a guarantee (the "
        "default):\n"
        "  kandinsky calibrate --probs {0}/cal_probs.npy --labels {0}/cal_labels.npy{3} -o {0}/model.kcal\n",
        flags.output, watch.seconds(), best,
        cal.groups.empty() ? "" : fmt::format(" --groups {}/cal_groups.npy", flags.output)));
    print(drawn ? fmt::format("  open {} in any browser\n", page)
                : "  no report: this program was built without it; install nodejs (18 or newer) and npm and "
                  "build again\n");
}
}  // namespace

Command add_demo(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "demo", "Run all steps on scenes that the program draws");
    app.add_option("-o,--output", flags->output, "folder for scenes, calibrators and results");
    app.add_option("--preset", flags->preset, "kind of scenes: photo or medical");
    app.add_option(
           "--images", flags->images,
           fmt::format("number of calibration images (default: {} photos, or {} slices of about 30 patients)",
                       kPhotos, kSlices))
        ->default_str("");
    app.add_option("--test-images", flags->test_images, "number of test images");
    app.add_option("--size", flags->size,
                   "size of the images, WIDTHxHEIGHT in pixels (default: the preset's)");
    app.add_option("--seed", flags->seed, "seed of the scenes and of all other random numbers");
    app.output("--report", flags->report.page, "FILE.html",
               "report to write (default: report.html in the folder)");
    flags->report.has_default_page = has_report_template();
    flags->report.declare(app);
    flags->common.declare(app);
    app.footer("Example:\n  kandinsky demo -o demo");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
