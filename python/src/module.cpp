#include "module.hpp"

using namespace kandinsky::python;

NB_MODULE(_core, module) {
    module.doc() = "The library behind the package. Private: use kandinsky, not kandinsky._core.";
    module.attr("version") = KANDINSKY_VERSION;
    init_errors(module);
    init_buffers(module);
    init_scratch(module);
    init_options(module);
    init_dataset(module);
    init_calibrator(module);
    init_evaluate(module);
    init_compare(module);
    init_report(module);
    init_annuli(module);
    init_outline(module);
    init_monitor(module);
    init_scenes(module);
}
