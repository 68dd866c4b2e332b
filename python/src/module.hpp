#pragma once

#include <nanobind/nanobind.h>

namespace kandinsky::python {

// One file each; module.cpp calls them in the order in which later ones need earlier ones' types.
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
