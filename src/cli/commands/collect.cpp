#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/array/npy.hpp"
#include "io/folder/pattern.hpp"

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
    for (const std::string& path : {probs, labels})
        if (!path.empty() && !is_images(path))
            fail(ErrorKind::usage, "{} is not a folder of images; kandinsky calibrate reads arrays directly",
                 path);
    const auto name = [&](const char* file) { return (fs::path(flags.output) / file).string(); };
    TerminalProgress progress(flags.common.quiet);
    const FolderOptions options = flags.input.folder_options();
    const auto label_source = labels.empty() ? nullptr : open_images(labels, Role::labels, options);
    const auto probs_source =
        probs.empty() ? nullptr : open_images(probs, Role::probabilities, options, labels);
    flags.input.folder.check_volumes(probs_source ? *probs_source : *label_source);
    make_folder(flags.output);
    const FolderData read = read_images(probs_source.get(), label_source.get(), options, progress);
    Outputs outputs{{"probs", read.probs.empty() ? "" : name("probs.npy")},
                    {"labels", read.labels.empty() ? "" : name("labels.npy")},
                    {"groups", name("groups.npy")},
                    {"images", name("images.csv")}};
    if (outputs.has("probs")) write_npy_rows(outputs.file("probs"), read.probs, read.usable);
    if (outputs.has("labels")) write_npy_rows(outputs.file("labels"), read.labels, read.usable);
    std::string table = "name,slice\n";
    std::vector<std::string> names;
    for (const ImageOrigin& origin : read.origins) names.push_back(origin.name);
    for (const std::uint32_t row : read.usable)
        table += fmt::format("{},{}\n", csv_field(names[row]), read.origins[row].slice);
    // Images without groups are grouped by the names of their files.
    write_npy_rows(outputs.file("groups"),
                   read.groups.empty() ? Array::copy_of(group_ids(names, ""), {names.size()}) : read.groups,
                   read.usable);
    outputs.file("images").write(table);
    outputs.commit();
    progress.clear();
    if (flags.common.quiet) return;
    for (const std::string& remark : read.remarks) warn(progress, remark);
    const std::vector<std::size_t>& shape = (read.probs.empty() ? read.labels : read.probs).shape();
    print(fmt::format("{}: {} images of {} cases, {} x {} pixels (height x width)\n", flags.output,
                      read.usable.size(), read.cases, shape[shape.size() - 2], shape.back()));
}
}  // namespace

Command add_collect(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(root, "collect", "Read folders of files into .npy arrays");
    app.input("--probs", flags->input.probs, "FOLDER", "folder of probabilities");
    app.input("--labels", flags->input.labels, "FOLDER", "folder of labels");
    app.output("-o,--output", flags->output, "FOLDER",
               "folder for probs.npy, labels.npy, groups.npy and images.csv (name and slice of each image)")
        ->required();
    declare_reading(app, flags->input);
    app.counts_unless("--ignore", [flags = flags.get()] {
        const FolderFlags& folder = flags->input.folder;
        return unless(folder.only_annotated || !(folder.grid + folder.coco.letterbox).empty(),
                      "labels are written unchanged");
    });
    for (const char* const flag : {"--ignore", "--padding", "--only-annotated"})
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(!flags->input.labels.empty(), "there are no --labels");
        });
    for (const char* const flag : {"--logits", "--class-files"})
        app.counts_unless(flag, [flags = flags.get()] {
            return unless(!flags->input.probs.empty(), "there are no --probs");
        });
    flags->common.declare(app);
    app.footer(
        "Example (folders 'probs' and 'labels' hold one file for each case or image):\n"
        "  kandinsky collect --probs probs --labels labels --only-annotated --grid 64x64 -o arrays");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
