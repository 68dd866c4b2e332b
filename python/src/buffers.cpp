#include "buffers.hpp"

#include <nanobind/stl/string.h>

#include <bit>
#include <cstring>
#include <memory>

#include "core/base/fail.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
static_assert(std::endian::native == std::endian::little, "numpy type strings below are little endian");

struct Letter {
    char kind;  ///< numpy's: b, i, u, f
    DType dtype;
};
constexpr Letter kKinds[] = {
    {'b', DType::boolean}, {'i', DType::int8},    {'u', DType::uint8},   {'i', DType::int16},
    {'u', DType::uint16},  {'i', DType::int32},   {'u', DType::uint32},  {'i', DType::int64},
    {'u', DType::uint64},  {'f', DType::float16}, {'f', DType::float32}, {'f', DType::float64},
};

char kind_of_format(char letter) {
    if (letter == '?') return 'b';
    if (std::strchr("bhilqn", letter) != nullptr) return 'i';
    if (std::strchr("BHILQN", letter) != nullptr) return 'u';
    if (std::strchr("efd", letter) != nullptr) return 'f';
    return 0;
}

/// The element type of a buffer's format, by kind and size, because 'l' has different sizes on different
/// machines.
DType dtype_of_buffer(const Py_buffer& buffer, const std::string& name) {
    const char* format = buffer.format == nullptr ? "B" : buffer.format;
    if (std::strchr("@=<", *format) != nullptr && *format != 0) ++format;
    const char kind = std::strlen(format) == 1 ? kind_of_format(*format) : char{0};
    for (const Letter& letter : kKinds)
        if (letter.kind == kind && size_of(letter.dtype) == static_cast<std::size_t>(buffer.itemsize))
            return letter.dtype;
    fail(ErrorKind::data, "{}: elements of type '{}' cannot be used; give floats or integers", name,
         buffer.format == nullptr ? "" : buffer.format);
}

/// Takes the interpreter's lock and releases a buffer, because any thread may drop the last reference.
struct Release {
    void operator()(Py_buffer* buffer) const {
        const nb::gil_scoped_acquire gil;
        PyBuffer_Release(buffer);
        delete buffer;
    }
};

std::string type_string(DType dtype) {
    for (const Letter& letter : kKinds)
        if (letter.dtype == dtype)
            return std::string(size_of(dtype) == 1 ? "|" : "<") + letter.kind +
                   std::to_string(size_of(dtype));
    fail(ErrorKind::internal, "a type without a name");
}

template <class T>
nb::tuple tuple_of(const std::vector<T>& values) {
    nb::list list;
    for (const T value : values) list.append(value);
    return nb::tuple(list);
}
}  // namespace

Array array_of(nb::handle object, const std::string& name) {
    auto raw = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(object.ptr(), raw.get(), PyBUF_RECORDS_RO) != 0) throw nb::python_error();
    const std::shared_ptr<Py_buffer> buffer(raw.release(), Release{});
    ArrayView view;
    view.dtype = dtype_of_buffer(*buffer, name);
    view.data = static_cast<const std::byte*>(buffer->buf);
    view.shape.assign(buffer->shape, buffer->shape + buffer->ndim);
    view.strides.assign(buffer->strides, buffer->strides + buffer->ndim);
    // An array without elements may have no memory, which would read as "no array given".
    static constexpr std::byte kNothing{};
    if (view.data == nullptr) view.data = &kNothing;
    return {std::move(view), buffer};
}

Array optional_array_of(nb::handle object, const std::string& name) {
    return object.is_none() ? Array() : array_of(object, name);
}

Output::Output(nb::handle object, DType dtype, std::size_t elements, const std::string& name) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0)
        throw nb::python_error();
    try {
        if (dtype_of_buffer(buffer_, name) != dtype ||
            static_cast<std::size_t>(buffer_.len) != elements * size_of(dtype))
            fail(ErrorKind::usage, "{} must be a writable C-order array of {} and {} elements", name,
                 name_of(dtype), elements);
    } catch (...) {
        PyBuffer_Release(&buffer_);
        throw;
    }
}

Output::~Output() {
    PyBuffer_Release(&buffer_);
}

void init_buffers(nb::module_& module) {
    nb::class_<Array>(module, "Array",
                      "Elements that the library owns; numpy.asarray() gives a view of them.")
        .def_prop_ro("__array_interface__", [](const Array& array) {
            nb::dict out;
            out["version"] = 3;
            out["typestr"] = type_string(array.dtype());
            out["shape"] = tuple_of(array.shape());
            out["strides"] = tuple_of(array.view().strides);
            out["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.view().data), true);
            return out;
        });
}

}  // namespace kandinsky::python
