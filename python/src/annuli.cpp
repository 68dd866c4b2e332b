#include <nanobind/stl/string.h>

#include "partition/annuli.hpp"

#include "buffers.hpp"
#include "core/base/fail.hpp"
#include "module.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
template <class T>
T one_of(const std::string& what, const std::string& given,
         std::initializer_list<std::pair<const char*, T>> known) {
    std::string names;
    for (const auto& [name, value] : known) {
        if (given == name) return value;
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    fail(ErrorKind::usage, "{} is '{}', but must be one of {}", what, given, names);
}

Array fitness(nb::handle points, nb::handle params, const std::string& metric, const std::string& shape,
              const std::string& rule, std::size_t threads) {
    const Array vectors = array_of(points, "points"), rows = array_of(params, "params");
    if (vectors.shape().size() != 3 || vectors.view().size() == 0)
        fail(ErrorKind::data, "points have shape {}, but must be [height, width, values]",
             vectors.view().shape_text());
    if (rows.shape().size() != 2 || rows.shape()[0] == 0)
        fail(ErrorKind::data, "params have shape {}, but must be [candidates, 2 + radii]",
             rows.view().shape_text());
    const auto m = one_of<AnnuliMetric>("metric", metric,
                                        {{"euclidean", AnnuliMetric::euclidean},
                                         {"sqeuclidean", AnnuliMetric::sqeuclidean},
                                         {"manhattan", AnnuliMetric::manhattan}});
    const auto s = one_of<AnnuliShape>("shape", shape,
                                       {{"circle", AnnuliShape::circle}, {"ellipse", AnnuliShape::ellipse}});
    const auto r = one_of<AnnuliRule>(
        "rule", rule, {{"consistent", AnnuliRule::consistent}, {"released", AnnuliRule::released}});
    return PyProgress(nb::none()).run(threads, [&] {
        const std::vector<float> values = vectors.to_vector<float>();
        const std::vector<double> numbers = rows.to_vector<double>();
        AnnuliPoints input;
        input.grid = {static_cast<std::uint32_t>(vectors.shape()[0]),
                      static_cast<std::uint32_t>(vectors.shape()[1])};
        input.values = vectors.shape()[2];
        input.points = values;
        const std::vector<double> out =
            annuli_fitness(input, annuli_from_rows(numbers, rows.shape()[1], s), m, r);
        return Array::copy_of(out, {out.size()});
    });
}
}  // namespace

void init_annuli(nb::module_& module) {
    module.def("annuli_fitness", fitness, nb::arg("points"), nb::arg("params"), nb::arg("metric"),
               nb::arg("shape"), nb::arg("rule"), nb::arg("threads"));
}

}  // namespace kandinsky::python
