#include "options.hpp"
#include "partition/method.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "buffers.hpp"
#include "cli/options/calibrate_flags.hpp"
#include "core/base/fail.hpp"
#include "core/data/group_number.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

// The command's own declarations are parsed here, so that an option added there is an option here, with the
// same default, check, help and error text.
CalibrateOptions options_of(const std::string& method, std::vector<std::string> words, nb::dict arrays,
                            const std::vector<std::string>& asked) {
    check_method(method);
    cli::CalibrateFlags flags;
    cli::OptionSet app("", "kandinsky");
    if (asked.empty())
        flags.declare(app);
    else
        flags.declare(app, [&asked] { return asked; });
    // Presets need to know whether a method was given. The default counts as not given.
    app.add_option("--method", flags.method);
    if (method != flags.method) words.push_back("--method=" + method);
    try {
        app.check_numbers();
        std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        fail(ErrorKind::usage, "{}", error.what());
    }
    app.check_call();
    CalibrateOptions options = flags.options();
    for (const auto& [flag, value] : arrays) {
        const auto name = nb::cast<std::string>(flag);
        options.method.settings.arrays[name] = array_of(value, name);
    }
    return options;
}

std::string default_method() {
    return cli::CalibrateFlags().method;
}

std::vector<std::string> remarks_of(const Calibrator& calibrator) {
    return cli::remarks(calibrator);
}

namespace {
const char* name_of_type(MethodOption::Type type) {
    switch (type) {
        case MethodOption::Type::integer:
            return "integer";
        case MethodOption::Type::real:
            return "real";
        case MethodOption::Type::array:
            return "array";
        case MethodOption::Type::text:
            break;
    }
    return "text";
}

nb::list described_methods() {
    nb::list out;
    for (const Method* method : methods()) {
        nb::list options;
        for (const MethodOption& option : method->options)
            options.append(
                nb::make_tuple(option.flag, name_of_type(option.type), option.standard, option.help));
        out.append(nb::make_tuple(method->name, method->summary, options));
    }
    return out;
}

nb::list described_options() {
    cli::CalibrateFlags flags;
    cli::OptionSet app("", "kandinsky");
    flags.declare(app);
    nb::list out;
    for (const CLI::Option* option : app.get_options())
        if (!option->get_lnames().empty() && option->get_lnames().front() != "help")
            out.append(nb::make_tuple(option->get_lnames().front(), option->get_default_str(),
                                      option->get_description(), option->get_expected_max() > 0));
    return out;
}
}  // namespace

void init_options(nb::module_& module) {
    module.def(
        "methods", described_methods,
        "(name, summary, [(flag, type, default, help), ...]) of every calibration method, in table order.");
    module.def(
        "options", described_options,
        "(flag, default, help, takes a value) of every option of calibration, the methods' own included.");
    module.def(
        "group_number",
        [](const nb::bytes& name) {
            return group_number({name.c_str(), name.size()});
        },
        nb::arg("name"), "The number of a group that has a name.");
    module.attr("default_method") = default_method();
}

}  // namespace kandinsky::python
