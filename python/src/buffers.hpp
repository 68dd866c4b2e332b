#pragma once

#include <nanobind/nanobind.h>

#include <kandinsky/array.hpp>
#include <string>
#include <vector>

namespace kandinsky::python {

/// An array view of the memory of a Python object that has the buffer protocol (every numpy array does).
/// Nothing is copied; the object stays alive, and cannot be resized, as long as the array exists. `name` is
/// used in messages. Throws a data error unless the elements are numbers in native byte order.
[[nodiscard]] Array array_of(nanobind::handle object, const std::string& name);
/// The same, or an empty array for None.
[[nodiscard]] Array optional_array_of(nanobind::handle object, const std::string& name);

/// The memory of a Python object for results: C order, exactly this type and size. Throws a usage error for
/// another type or size, and Python's BufferError for another order or read-only memory.
class Output {
  public:
    Output(nanobind::handle object, DType dtype, std::size_t elements, const std::string& name);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    template <class T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(buffer_.buf);
    }

  private:
    Py_buffer buffer_{};
};

void init_buffers(nanobind::module_& module);

}  // namespace kandinsky::python
