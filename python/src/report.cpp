#include "report/data/report_input.hpp"
#include "report/page/page.hpp"
#include "report/page/report_data.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kandinsky/evaluate.hpp>

#include "calibrator.hpp"
#include "compare.hpp"
#include "core/base/fail.hpp"
#include "dataset.hpp"
#include "module.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
/// The page as bytes, because it is UTF-8 already and several megabytes long.
nb::bytes bytes_of(const std::string& page) {
    return nb::bytes(page.data(), page.size());
}

void finish(ReportInput& input, const std::string& title, const std::vector<std::string>& class_names,
            std::size_t classes) {
    (void)class_labels(class_names, classes);
    input.class_names = class_names;
    if (!title.empty()) input.title = title;
    input.provenance["command"] = "kandinsky " KANDINSKY_VERSION " from Python";
}

nb::bytes contest_page(const Contest& self, const std::string& title, const std::vector<int>& classes,
                       const std::vector<std::string>& class_names, std::size_t threads,
                       nb::object callback) {
    require_report_template();
    PyProgress progress(std::move(callback));
    return bytes_of(progress.run(threads, [&] {
        ReportInput input = report_input(*self.core, *self.calibration, *self.test, classes);
        input.empty = self.empty;
        finish(input, title, class_names, self.test->classes());
        const Examination found =
            examine(*input.test, input.calibrators, {.alpha = input.alpha, .ece_maps = false}, progress);
        return report_page(report_data(input, found.tally));
    }));
}

nb::bytes calibrators_page(const std::vector<Calibrated>& calibrators, const std::vector<std::string>& names,
                           const Data& data, double alpha, const std::string& title,
                           const std::vector<int>& classes, const std::vector<std::string>& class_names,
                           std::size_t threads, nb::object callback) {
    require_report_template();
    check_alpha(alpha);
    PyProgress progress(std::move(callback));
    return bytes_of(progress.run(threads, [&] {
        ReportInput input;
        input.title = "Coverage of prediction sets";
        input.names = names;
        for (const Calibrated& one : calibrators) {
            const CalibrateOptions &first = calibrators.front().core->options, &own = one.core->options;
            if (own.condition != first.condition || own.released != first.released)
                fail(ErrorKind::usage,
                     "these calibrators cannot be in one report: they differ in condition "
                     "or compat");
            input.calibrators.push_back(one.core.get());
        }
        const auto [evaluation, tally] =
            examine(data.set, input.calibrators, {.alpha = alpha, .ece_maps = false}, progress);
        input.evaluation = &evaluation;
        input.test = &data.set;
        input.classes = classes;
        input.alpha = alpha;
        input.provenance["inputs"] = {input_json("test", data.set)};
        finish(input, title, class_names, data.set.classes());
        return report_page(report_data(input, tally));
    }));
}
}  // namespace

void init_report(nb::module_& module) {
    module.def("has_report", has_report_template);
    module.def("report_contest", contest_page, nb::arg("contest"), nb::arg("title"), nb::arg("classes"),
               nb::arg("class_names"), nb::arg("threads"), nb::arg("progress").none());
    module.def("report_calibrators", calibrators_page, nb::arg("calibrators"), nb::arg("names"),
               nb::arg("data"), nb::arg("alpha"), nb::arg("title"), nb::arg("classes"),
               nb::arg("class_names"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace kandinsky::python
