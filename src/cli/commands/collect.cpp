#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string output;
};

void run(const Flags& flags) {
    namespace fs = std::filesystem;
    const ThreadLimit limit(flags.common.threads);
    const std::string &probs = flags.input.probs, &labels = flags.input.labels;
    if (probs.empty() && labels.empty())
        fail(ErrorKind::usage, "nothing to read: give --probs, --labels or both");
    if (labels.empty() && flags.input.folder.only_annotated)
        fail(ErrorKind::usage, "--only-annotated needs --labels");
    for (const std::string& path : {probs, labels})
        if (!path.empty() && !is_images(path))
            fail(ErrorKind::usage, "{} is no folder of images; arrays need no collecting", path);
    make_folder(flags.output);
    const auto name = [&](const char* file) { return (fs::path(flags.output) / file).string(); };
    TerminalProgress progress(flags.common.quiet);
    const FolderOptions options = flags.input.folder_options({});
    const auto label_source = labels.empty() ? nullptr : open_images(labels, Role::labels, options);
    const auto probs_source =
        probs.empty() ? nullptr : open_images(probs, Role::probabilities, options, labels);
    const FolderData read = read_images(probs_source.get(), label_source.get(), options, progress);
    Outputs outputs{{"probs", read.probs.empty() ? "" : name("probs.npy")},
                    {"labels", read.labels.empty() ? "" : name("labels.npy")},
                    {"groups", read.groups.empty() ? "" : name("groups.npy")},
                    {"images", name("images.csv")}};
    if (outputs.has("probs")) write_npy_rows(outputs.file("probs"), read.probs, read.usable);
    if (outputs.has("labels")) write_npy_rows(outputs.file("labels"), read.labels, read.usable);
    if (outputs.has("groups")) write_npy_rows(outputs.file("groups"), read.groups, read.usable);
    std::string table = "name,slice\n";
    for (const std::uint32_t row : read.usable)
        table += fmt::format("{},{}\n", read.origins[row].name, read.origins[row].slice);
    outputs.file("images").write(table);
    outputs.commit();
    progress.clear();
    if (flags.common.quiet) return;
    for (const std::string& remark : read.remarks) warn(progress, remark);
    print(fmt::format("{}: {} images of {} cases, {} x {} pixels\n", flags.output, read.usable.size(),
                      read.cases, read.provenance.value("width", 0), read.provenance.value("height", 0)));
}
}  // namespace

Command add_collect(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* app = root.add_subcommand("collect", "Read folders of files into .npy arrays");
    path_option(*app, "--probs", flags->input.probs, "FOLDER", "folder of probabilities");
    path_option(*app, "--labels", flags->input.labels, "FOLDER", "folder of labels");
    path_option(*app, "-o,--output", flags->output, "FOLDER",
                "folder for probs.npy, labels.npy, groups.npy and images.csv (name and slice of each)")
        ->required();
    declare_reading(*app, flags->input);
    flags->common.declare(*app);
    app->footer(
        "Example (folders 'probs' and 'labels' hold one file for each case or image):\n"
        "  kandinsky collect --probs probs --labels labels --only-annotated --grid 64x64 -o arrays");
    return {app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
