#include <kandinsky/error.hpp>

#include "module.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
const char* class_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
            return "UsageError";
        case ErrorKind::data:
            return "DataError";
        case ErrorKind::file:
            return "FileError";
        case ErrorKind::internal:
            break;
    }
    return "InternalError";
}

/// Raises the library's error as the class of kandinsky.errors for its kind, with Python's names in the
/// message.
void translate(const std::exception_ptr& problem, void*) {
    try {
        std::rethrow_exception(problem);
    } catch (const Error& error) {
        const nb::object errors = nb::module_::import_("kandinsky.errors");
        const nb::object type = errors.attr(class_of(error.kind()));
        const nb::object text = nb::module_::import_("kandinsky._words").attr("in_python")(error.what());
        PyErr_SetObject(type.ptr(), text.ptr());
    }
}
}  // namespace

void init_errors(nb::module_&) {
    nb::register_exception_translator(translate);
}

}  // namespace kandinsky::python
