#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kandinsky/evaluate.hpp>

#include "calibrator.hpp"
#include "core/base/stopwatch.hpp"
#include "dataset.hpp"
#include "evaluation.hpp"
#include "module.hpp"
#include "progress.hpp"
#include "report/table/result_json.hpp"
#include "report/table/table.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

Array map_of(const std::vector<const std::vector<double>*>& planes, const Grid& grid) {
    std::vector<double> all;
    for (const auto* plane : planes) all.insert(all.end(), plane->begin(), plane->end());
    return Array::copy_of(all, {planes.size(), grid.height, grid.width});
}

Array ce_map_of(const Evaluation& evaluation, const Grid& grid) {
    std::vector<const std::vector<double>*> planes;
    for (const StratumEvaluation& stratum : evaluation.strata) planes.push_back(&stratum.ce_map);
    return map_of(planes, grid);
}

Array ece_map_of(const EvaluationReport& report, const Grid& grid) {
    std::vector<const std::vector<double>*> planes;
    for (const std::vector<double>& plane : report.probabilities.ece_map) planes.push_back(&plane);
    return map_of(planes, grid);
}

namespace {
/// The result of `kandinsky evaluate`.
struct Judgement {
    std::shared_ptr<const Calibrator> calibrator;
    EvaluationReport report;
    double seconds = 0;
};

Judgement judge(const Calibrated& self, const Data& data, double alpha, const std::string& empty,
                std::size_t bootstrap, std::uint64_t seed, std::size_t threads, nb::object callback) {
    check_alpha(alpha);
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        const Stopwatch watch;
        Judgement out{self.core, evaluate(data.set, {self.core.get()},
                                          {.alpha = alpha,
                                           .maps = true,
                                           .empty = empty_sets_of(empty),
                                           .bootstrap = bootstrap,
                                           .seed = seed},
                                          progress)};
        out.seconds = watch.seconds();
        return out;
    });
}
}  // namespace

void init_evaluate(nb::module_& module) {
    nb::class_<Judgement>(module, "Judgement", "One calibrator on test images.")
        .def(
            "json",
            [](const Judgement& self, const std::vector<int>& classes) {
                return evaluation_json(*self.calibrator, self.report, classes, self.seconds).dump(2);
            },
            nb::arg("classes"))
        .def(
            "table",
            [](const Judgement& self, const std::vector<int>& classes) {
                return evaluation_table(*self.calibrator, self.report, classes);
            },
            nb::arg("classes"))
        .def("ce_map",
             [](const Judgement& self) {
                 return ce_map_of(self.report.calibrators.front(), self.calibrator->grid);
             })
        .def("ece_map", [](const Judgement& self) { return ece_map_of(self.report, self.calibrator->grid); });
    module.def("evaluate", judge, nb::arg("calibrated"), nb::arg("data"), nb::arg("alpha"), nb::arg("empty"),
               nb::arg("bootstrap"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace kandinsky::python
