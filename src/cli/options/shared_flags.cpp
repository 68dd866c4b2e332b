#include "cli/options/shared_flags.hpp"

#include "core/base/fail.hpp"

namespace kandinsky::cli {

void CommonFlags::declare(CLI::App& app) {
    count_option(app, "--threads", threads, "threads to use (0: all of the machine)");
    app.add_flag("-q,--quiet", quiet, "no progress, no warnings, no summary");
}

void EmptyFlags::declare(CLI::App& app, const std::string& help) {
    app_ = &app;
    app.add_option("--empty", empty, help);
    app.add_flag("--no-empty", no_empty, "the same as --empty fill");
}

EmptySets EmptyFlags::choice() const {
    if (empty != "auto" && empty != "fill" && empty != "keep")
        fail(ErrorKind::usage, "--empty is '{}', but must be auto, fill or keep", empty);
    if (no_empty && empty == "keep")
        fail(ErrorKind::usage, "--no-empty means --empty fill, but --empty is keep; say one of the two");
    return no_empty ? EmptySets::fill : empty_sets(empty);
}

void EmptyFlags::refuse(const std::string& why) const {
    for (const char* const flag : {"--empty", "--no-empty"})
        if (app_->count(flag) > 0) fail(ErrorKind::usage, "{} has no effect: {}", flag, why);
}

void declare_reading(CLI::App& app, InputFlags& flags) {
    app.add_option("--ignore", flags.ignore, "labels that belong to no class, or 'none'");
    app.add_option("--logits", flags.logits, "the inputs are logits: sigmoid or softmax (never guessed)");
    flags.folder.declare(app, true);
}

void declare_input(CLI::App& app, InputFlags& flags, const std::string& prefix, bool with_truth) {
    path_option(app, "--" + prefix + "probs", flags.probs, "FILE",
                "probabilities [N,C,H,W], .npy or .npz[:KEY]; float16/32/64 or uint8 (p * 255); or a "
                "folder of files")
        ->required();
    if (!with_truth) return;
    path_option(app, "--" + prefix + "labels", flags.labels, "FILE",
                "labels [N,H,W], or 0/1 masks [N,C,H,W] that may overlap; or a folder of files")
        ->required();
    path_option(app, "--" + prefix + "groups", flags.groups, "FILE",
                "which images belong together (patient, video): integers [N]");
}

void check_classes(const std::vector<int>& wanted, std::size_t classes, const char* there_are) {
    for (const int cls : wanted)
        if (cls < 0 || static_cast<std::size_t>(cls) >= classes)
            fail(ErrorKind::usage, "--classes has {}, but {} classes 0 to {}", cls, there_are, classes - 1);
}

void write_json(const std::string& path, const Outputs& outputs, const nlohmann::ordered_json& json) {
    const std::string text = json.dump(2) + "\n";
    if (path == "-")
        print(text);
    else if (outputs.has("--json"))
        outputs.file("--json").write(text);
}

void say(TerminalProgress& progress, const Input& input, bool quiet) {
    if (quiet) return;
    for (const std::string& remark : input.remarks) warn(progress, remark);
}

}  // namespace kandinsky::cli
