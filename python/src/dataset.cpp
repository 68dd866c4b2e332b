#include "dataset.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "buffers.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "module.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

Logits logits_of(const std::string& name) {
    if (name == "none") return Logits::none;
    if (name == "sigmoid") return Logits::sigmoid;
    if (name == "softmax") return Logits::softmax;
    fail(ErrorKind::usage, "logits is '{}', but must be none, sigmoid or softmax", name);
}

namespace {
/// Reads every value once, so that a bad value is found in the call that passed it.
void check(const Dataset& data) {
    const std::size_t pixels = data.grid().pixels();
    parallel_for(data.images(), [&](std::size_t image) {
        thread_local std::vector<float> probs;
        thread_local std::vector<std::uint8_t> truth;
        probs.resize(data.classes() * pixels);
        data.read_probs(image, {0, pixels}, probs);
        if (!data.labelled()) return;
        truth.resize((data.classes() + 1) * pixels);
        data.read_truth(image, {0, pixels}, truth, std::span(truth).subspan(data.classes() * pixels));
    });
}
/// Writes which classes each pixel has, [N,C,H,W], and whether it has a label, [N,H,W].
void read_truth(const Data& data, nb::handle member, nb::handle valid, std::size_t threads) {
    const Dataset& set = data.set;
    const std::size_t pixels = set.grid().pixels(), planes = set.classes() * pixels;
    const Output members(member, DType::boolean, set.images() * planes, "member");
    const Output labelled(valid, DType::boolean, set.images() * pixels, "valid");
    PyProgress(nb::none()).run(threads, [&] {
        parallel_for(set.images(), [&](std::size_t image) {
            set.read_truth(image, {0, pixels}, {members.as<std::uint8_t>() + image * planes, planes},
                           {labelled.as<std::uint8_t>() + image * pixels, pixels});
        });
    });
}
}  // namespace

void init_dataset(nb::module_& module) {
    nb::class_<Data>(module, "Data", "Probabilities, truth and groups, as views of the arrays.")
        .def(
            "__init__",
            [](Data* self, nb::handle probs, nb::handle labels, nb::handle groups,
               std::vector<std::int64_t> ignore, const std::string& logits, const std::string& prefix) {
                DatasetOptions options;
                options.ignore = std::move(ignore);
                options.logits = logits_of(logits);
                options.probs_name = prefix + "probs";
                options.labels_name = prefix + "labels";
                options.groups_name = prefix + "groups";
                Array p = array_of(probs, options.probs_name);
                Array y = optional_array_of(labels, options.labels_name);
                Array g = optional_array_of(groups, options.groups_name);
                new (self) Data{Dataset(std::move(p), std::move(y), std::move(g), std::move(options))};
            },
            nb::arg("probs"), nb::arg("labels").none(), nb::arg("groups").none(), nb::arg("ignore"),
            nb::arg("logits"), nb::arg("prefix"))
        .def_prop_ro("images", [](const Data& data) { return data.set.images(); })
        .def_prop_ro("classes", [](const Data& data) { return data.set.classes(); })
        .def_prop_ro(
            "grid", [](const Data& data) { return std::pair(data.set.grid().height, data.set.grid().width); })
        .def(
            "check",
            [](const Data& data, std::size_t threads) {
                PyProgress(nb::none()).run(threads, [&] { check(data.set); });
            },
            nb::arg("threads"))
        .def("truth", read_truth, nb::arg("member"), nb::arg("valid"), nb::arg("threads"));
}

}  // namespace kandinsky::python
