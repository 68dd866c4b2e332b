#include "cli/options/shared_flags.hpp"

#include "core/base/fail.hpp"

namespace kandinsky::cli {

void CommonFlags::declare(OptionSet& app) {
    app.add_option("--threads", threads, "number of threads (0: all of the machine)");
    app.add_flag("-q,--quiet", quiet, "print no progress, no warnings and no summary");
}

void EmptyFlags::declare(OptionSet& app, const std::string& help) {
    app.add_option("--empty", empty, help);
    app.add_flag("--no-empty", no_empty, "same as --empty fill");
}

EmptySets EmptyFlags::choice() const {
    if (empty != "auto" && empty != "fill" && empty != "keep")
        fail(ErrorKind::usage, "--empty is '{}', but must be auto, fill or keep", empty);
    if (no_empty && empty == "keep")
        fail(ErrorKind::usage, "--no-empty means --empty fill, but --empty is keep; give one of the two");
    return no_empty ? EmptySets::fill : empty_sets_of(empty);
}

void declare_logits(OptionSet& app, InputFlags& flags) {
    app.add_option("--logits", flags.logits,
                   "function that turns the inputs into probabilities: sigmoid or softmax for logits, none "
                   "for probabilities")
        ->default_str("none");
}

void declare_reading(OptionSet& app, InputFlags& flags) {
    app.add_option("--ignore", flags.ignore, "labels to ignore, separated by commas, or 'none'")
        ->default_str("255");
    declare_logits(app, flags);
    flags.folder.declare(app, {}, [&flags] {
        return unless(is_images(flags.probs) || is_images(flags.labels),
                      "it is for folders of files, not for arrays");
    });
    app.counts_unless("--group-by", [&flags] { return unless(flags.groups.empty(), "groups are given"); });
    for (const char* const flag : {"--categories", "--crowd", "--overlap", "--letterbox"})
        app.counts_unless(flag, [&flags] {
            return unless(is_coco(flags.labels), "the labels are not a .json of COCO annotations");
        });
}

void declare_checkpoint(OptionSet& app, TeamFlags& flags) {
    app.output("--checkpoint", flags.checkpoint, "DIR",
               "folder for the state of the work, from which the same command continues after it was killed");
    app.counts_unless(
        app.add_option("--checkpoint-every", flags.interval, "seconds between two saves of the state")
            ->check(CLI::Range(0.0, 1e9)),
        [&flags] { return unless(!flags.checkpoint.empty(), "there is no --checkpoint to save to"); });
}

void declare_classes(OptionSet& app, std::vector<int>& classes, const std::string& help) {
    app.add_option("--classes", classes, help)->default_str("")->delimiter(',')->allow_extra_args(false);
}

void declare_input(OptionSet& app, InputFlags& flags, const std::string& prefix, bool with_truth) {
    app.input("--" + prefix + "probs", flags.probs, "FILE",
              "probabilities [N,C,H,W], .npy or .npz[:KEY]; float16/32/64 or uint8 (p * 255); or a "
              "folder of files")
        ->required();
    if (!with_truth) return;
    app.input("--" + prefix + "labels", flags.labels, "FILE",
              "labels [N,H,W], or 0/1 masks [N,C,H,W] that may overlap; or a folder of files")
        ->required();
    app.input("--" + prefix + "groups", flags.groups, "FILE",
              "group of each image (patient, video): integers or names [N]; or a .csv with one group per "
              "line or, for files, lines NAME,GROUP");
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
