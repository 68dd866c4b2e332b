#include "compare.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "calibrator.hpp"
#include "core/base/fail.hpp"
#include "dataset.hpp"
#include "evaluation.hpp"
#include "module.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
Contest contest(const Data& calibration, const Data& test, std::vector<std::string> methods,
                std::vector<std::string> words, nb::dict arrays, double alpha, std::size_t sample,
                std::size_t draws, const std::string& empty, std::size_t bootstrap, std::size_t threads,
                nb::object callback) {
    check_alpha(alpha);
    CompareOptions options;
    options.methods = methods.empty() ? default_methods() : std::move(methods);
    options.calibrate = options_of(default_method(), std::move(words), std::move(arrays), options.methods);
    options.alpha = alpha;
    options.sample = sample;
    options.draws = draws;
    options.empty = empty_sets_of(empty);
    options.bootstrap = bootstrap;
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        return Contest{
            std::make_shared<const Comparison>(compare(calibration.set, test.set, options, progress)),
            std::make_shared<const Dataset>(calibration.set), std::make_shared<const Dataset>(test.set),
            options.empty};
    });
}

/// The calibrators share the comparison's memory.
std::vector<Calibrated> calibrators_of(const Contest& self) {
    std::vector<Calibrated> out;
    for (const Calibrator& calibrator : self.core->calibrators)
        out.push_back({std::shared_ptr<const Calibrator>(self.core, &calibrator)});
    return out;
}
}  // namespace

void init_compare(nb::module_& module) {
    nb::class_<Contest>(module, "Contest", "Several methods on one calibration and one test set.")
        .def(
            "json",
            [](const Contest& self, const std::vector<int>& classes) {
                return comparison_json(*self.core, classes).dump(2);
            },
            nb::arg("classes"))
        .def(
            "table",
            [](const Contest& self, const std::vector<int>& classes) {
                return comparison_table(*self.core, classes);
            },
            nb::arg("classes"))
        .def("calibrators", calibrators_of)
        .def(
            "ce_map",
            [](const Contest& self, std::size_t method) {
                return ce_map_of(self.core->last.calibrators.at(method), self.core->grid);
            },
            nb::arg("method"))
        .def("ece_map", [](const Contest& self) { return ece_map_of(self.core->last, self.core->grid); })
        .def("reliability", [](const Contest& self) {
            nb::list out;
            for (const Reliability& bins : self.core->reliability)
                out.append(nb::make_tuple(bins.count, bins.confidence, bins.accuracy, bins.ece));
            return out;
        });
    module.def("compare", contest, nb::arg("calibration"), nb::arg("test"), nb::arg("methods"),
               nb::arg("words"), nb::arg("arrays"), nb::arg("alpha"), nb::arg("sample"), nb::arg("draws"),
               nb::arg("empty"), nb::arg("bootstrap"), nb::arg("threads"), nb::arg("progress").none());
    module.def("default_methods", default_methods);
}

}  // namespace kandinsky::python
