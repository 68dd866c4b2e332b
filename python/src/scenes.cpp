#include <nanobind/stl/string.h>

#include <kandinsky/scenes.hpp>

#include "buffers.hpp"
#include "module.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

void init_scenes(nb::module_& module) {
    module.def(
        "make_scenes",
        [](const std::string& preset, std::size_t images, std::uint64_t seed, std::size_t first,
           std::uint32_t height, std::uint32_t width, std::size_t threads) {
            Scenes scenes = PyProgress(nb::none()).run(threads, [&] {
                return make_scenes({preset, images, seed, first, {height, width}});
            });
            return nb::make_tuple(scenes.probs, scenes.labels,
                                  scenes.groups.empty() ? nb::none() : nb::cast(scenes.groups));
        },
        nb::arg("preset"), nb::arg("images"), nb::arg("seed"), nb::arg("first"), nb::arg("height"),
        nb::arg("width"), nb::arg("threads"));
}

}  // namespace kandinsky::python
