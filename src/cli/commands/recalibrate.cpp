#include <kandinsky/reference.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "core/base/stopwatch.hpp"
#include "io/file/input_watch.hpp"
#include "io/kcal/kcal.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    InputFlags input;
    std::string calibrator, output;
};

void run(const Flags& flags) {
    const ThreadLimit limit(threads_for(flags.common.threads));
    Outputs outputs{{"-o", flags.output}};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    const Stopwatch watch;
    const Calibrator old = load(flags.calibrator);
    const Input input = flags.input.load(progress, &old);
    say(progress, input, flags.common.quiet);
    const Calibrator calibrator = recalibrate(old, input.data, progress);
    const Reference reference = make_reference(calibrator, input.data, progress);
    if (!flags.common.quiet)
        for (const std::string& remark : remarks(calibrator)) warn(progress, remark);
    if (progress.cancelled()) throw Interrupted();
    save(calibrator, reference, outputs.file("-o"));
    inputs.check();
    outputs.commit();
    progress.clear();
    if (flags.common.quiet) return;
    const Renewal& own = calibrator.renewal;
    print(fmt::format("{}: the curves of {}, levels set by {} new images{}, {:.1f} s\n{}\n", flags.output,
                      flags.calibrator, own.images,
                      own.grouped ? fmt::format(" of {} groups", own.groups) : "", watch.seconds(),
                      guarantee(calibrator)));
}
}  // namespace

Command add_recalibrate(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app = OptionSet::add_to(
        root, "recalibrate",
        "Set the levels of a calibrator with new labelled images; the old images are not needed");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator whose curves are kept")->required();
    declare_input(app, flags->input, "", true);
    declare_reading(app, flags->input);
    app.output("-o,--output", flags->output, "FILE.kcal", "calibrator file to write")->required();
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky recalibrate demo/kmeans.kcal --probs demo/test_probs.npy --labels demo/test_labels.npy "
        "-o demo/new.kcal");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
