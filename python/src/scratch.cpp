#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "buffers.hpp"
#include "core/base/fail.hpp"
#include "io/array/scratch_array.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
DType dtype_named(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(DType::float64); ++i)
        if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
    fail(ErrorKind::usage, "there is no element type '{}'", name);
}
}  // namespace

void init_scratch(nb::module_& module) {
    nb::class_<ScratchArray>(module, "ScratchArray", "Items in a temporary file without a name.")
        .def(
            "__init__",
            [](ScratchArray* self, const std::string& dtype, std::vector<std::size_t> item_shape,
               const std::string& folder) {
                new (self) ScratchArray(dtype_named(dtype), std::move(item_shape), folder);
            },
            nb::arg("dtype"), nb::arg("item_shape"), nb::arg("folder"))
        .def("__len__", &ScratchArray::items)
        .def(
            "append",
            [](ScratchArray& self, nb::handle items) {
                const Array array = array_of(items, "items");
                const nb::gil_scoped_release released;
                self.append(array.view());
            },
            nb::arg("items"))
        .def("truncate", &ScratchArray::truncate, nb::arg("count"))
        .def("array", &ScratchArray::array);
}

}  // namespace kandinsky::python
