#include <kandinsky/kcal.hpp>
#include <kandinsky/onnx.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/file/input_watch.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    std::string calibrator, file, onto, output_name, alphas = "0.1", logits = "recorded";
    bool foreground = false;
    EmptyFlags empty;
};

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    OnnxOptions options{.alphas = parse_reals(flags.alphas, "--alpha"),
                        .empty = flags.empty.choice(),
                        .foreground = flags.foreground,
                        .output_name = flags.output_name,
                        .folder = std::filesystem::absolute(flags.file).parent_path()};
    if (!flags.onto.empty()) options.onto = flags.onto;
    if (flags.logits != "recorded") {
        InputFlags words;
        words.logits = flags.logits;
        options.logits = words.dataset_options().logits;
    }
    Outputs outputs{{"-o", flags.file}};
    const InputWatch inputs;
    const Calibrator calibrator = load(flags.calibrator);
    const OnnxModel model = onnx_sets(calibrator, options);
    outputs.file("-o").write(model.bytes);
    inputs.check();
    outputs.commit();
    if (flags.common.quiet) return;
    std::string names;
    for (const std::string& name : model.outputs) names += (names.empty() ? "" : ", ") + name;
    print(fmt::format("{}: from '{}' to {}, bool [N,{},{},{}]\n{}\n", flags.file, model.input, names,
                      calibrator.classes, calibrator.grid.height, calibrator.grid.width,
                      guarantee(calibrator)));
}
}  // namespace

Command add_export(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "export", "Write the sets as an ONNX graph, alone or appended to a model");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator, a .kcal file")->required();
    app.add_option("--alpha", flags->alphas,
                   "error levels alpha, separated by commas; each has an output, such as sets_0.1");
    app.output("-o,--output", flags->file, "FILE.onnx",
               "ONNX file to write; its outputs are bool [N,C,H,W], true where the class is in the set")
        ->required();
    app.input("--onto", flags->onto, "MODEL.onnx",
              "model to append the sets to; it keeps its own outputs (operator sets 13 to 25)");
    app.counts_unless(
        app.add_option("--output-name", flags->output_name,
                       "name of the model's output with probabilities or logits (needed if it has several)")
            ->type_name("NAME"),
        [flags = flags.get()] { return unless(!flags->onto.empty(), "it names an output of --onto MODEL"); });
    app.add_option("--logits", flags->logits,
                   "input of the graph: none (probabilities), sigmoid or softmax (logits), or recorded (as "
                   "in calibration)");
    app.counts_unless(
        app.add_flag("--foreground", flags->foreground,
                     "input of the graph is one plane, the probability of class 1 (a model's own shape "
                     "decides with --onto)"),
        [flags = flags.get()] { return unless(flags->onto.empty(), "the shape of --onto MODEL decides"); });
    flags->empty.declare(app);
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky export demo/kmeans.kcal --alpha 0.1,0.2 -o demo/sets.onnx");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
