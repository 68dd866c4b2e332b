// Parses the words of a command line, one on each line; the first byte chooses the command. No command runs,
// because it would write files.
#include <kandinsky/error.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "harness.hpp"

namespace {

using namespace kandinsky;
using namespace kandinsky::cli;

constexpr Command (*const kCommands[])(CLI::App&) = {
    add_calibrate, add_predict, add_evaluate,   add_compare, add_inspect, add_report,
    add_train,     add_infer,   add_experiment, add_demo,    add_collect, add_recalibrate,
    add_export,    add_outline, add_measure,    add_nnunet,  add_monitor};
constexpr std::size_t kCount = std::size(kCommands);

/// As fuzz::result_or_error(), but messages may quote words that main() makes printable.
template <class Body>
void result_or_refusal(Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        fuzz::check(error.kind() != ErrorKind::internal, "an internal error");
    }
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        out.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

/// Whether the words were accepted.
bool parse(CLI::App& app, std::vector<std::string> given) {
    std::reverse(given.begin(), given.end());  // CLI11 takes them from the back
    try {
        app.parse(std::move(given));
        return true;
    } catch (const CLI::ParseError& error) {
        fuzz::check(*error.what() != '\0' || error.get_exit_code() == 0, "a refusal without words");
        return false;
    }
}

void whole_command(std::size_t which, std::vector<std::string> given) {
    CLI::App root("kandinsky");
    root.require_subcommand(1);
    const Command command = kCommands[which](root);
    given.insert(given.begin(), command.app->get_name());
    parse(root, std::move(given));
}

/// Checks the values of the options for calibration and reading.
void values(const std::vector<std::string>& given) {
    OptionSet app("values");
    CalibrateFlags calibrate;
    InputFlags input;
    calibrate.declare(app);
    declare_reading(app, input);
    app.add_option("--method", calibrate.method);
    app.check_numbers();
    if (!parse(app, given)) return;
    result_or_refusal([&] {
        const CalibrateOptions options = calibrate.options();
        check_method(options.method.name);
    });
    result_or_refusal([&] { (void)input.folder_options(); });
    result_or_refusal([&] { app.check_call(); });
}

void lists(const std::string& text) {
    result_or_refusal([&] { (void)parse_integers(text, "--list"); });
    result_or_refusal([&] { (void)parse_reals(text, "--list"); });
    result_or_refusal([&] { fuzz::check(parse_bytes(text, "--bytes") > 0, "a size of 0 was accepted"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    const std::size_t which = bytes.byte() % (kCount + 2);
    const auto rest = bytes.rest();
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    if (which < kCount)
        whole_command(which, words(text));
    else if (which == kCount)
        values(words(text));
    else
        for (const std::string& word : words(text)) lists(word);
    return 0;
}
