#pragma once

#include <nanobind/nanobind.h>

namespace kandinsky::python {

// Each function is in its own file. module.cpp calls them in this order, because some need earlier types.
void init_errors(nanobind::module_& module);
void init_buffers(nanobind::module_& module);
void init_scratch(nanobind::module_& module);
void init_options(nanobind::module_& module);
void init_dataset(nanobind::module_& module);
void init_calibrator(nanobind::module_& module);
void init_evaluate(nanobind::module_& module);
void init_compare(nanobind::module_& module);
void init_report(nanobind::module_& module);
void init_annuli(nanobind::module_& module);
void init_outline(nanobind::module_& module);
void init_monitor(nanobind::module_& module);
void init_scenes(nanobind::module_& module);

}  // namespace kandinsky::python
