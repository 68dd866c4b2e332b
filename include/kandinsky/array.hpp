#pragma once

#include <cstddef>
#include <cstdint>
#include <kandinsky/export.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// Element types that arrays may have; the names are numpy's.
enum class DType : std::uint8_t {
    boolean,  ///< one byte, 0 or 1
    int8,     ///< signed, 8 bits
    uint8,    ///< unsigned, 8 bits
    int16,    ///< signed, 16 bits
    uint16,   ///< unsigned, 16 bits
    int32,    ///< signed, 32 bits
    uint32,   ///< unsigned, 32 bits
    int64,    ///< signed, 64 bits
    uint64,   ///< unsigned, 64 bits
    float16,  ///< IEEE half precision
    float32,  ///< IEEE single precision
    float64,  ///< IEEE double precision
};

[[nodiscard]] std::size_t size_of(DType dtype);       ///< bytes of one element
[[nodiscard]] std::string_view name_of(DType dtype);  ///< numpy's name: "float32"
[[nodiscard]] bool is_integer(DType dtype);           ///< signed, unsigned or boolean
[[nodiscard]] bool is_floating(DType dtype);          ///< half, single or double precision

/// A strided, read-only view of elements in native byte order. Does not own or copy them.
struct ArrayView {
    const std::byte* data = nullptr;      ///< the first element
    DType dtype = DType::uint8;           ///< type of the elements
    std::vector<std::size_t> shape;       ///< elements along each axis
    std::vector<std::ptrdiff_t> strides;  ///< in bytes, one per axis

    [[nodiscard]] std::size_t rank() const { return shape.size(); }  ///< number of axes
    [[nodiscard]] std::size_t size() const;                          ///< number of elements
    [[nodiscard]] bool is_c_contiguous() const;    ///< no gaps, and the last axis varies fastest
    [[nodiscard]] std::string shape_text() const;  ///< "[100, 2, 240, 320]"
    /// The first element at this index of the first axis.
    [[nodiscard]] const std::byte* at(std::size_t axis0) const {
        return data + static_cast<std::ptrdiff_t>(axis0) * strides[0];
    }
};

/// C-order strides in bytes for a shape.
[[nodiscard]] std::vector<std::ptrdiff_t> c_strides(const std::vector<std::size_t>& shape, DType dtype);

/// The DType of a C++ element type. Defined for std::int8_t to std::uint64_t, float and double.
template <class T>
[[nodiscard]] DType dtype_of();

/// The elements at `first` as an array of this shape in C order: `view_of(probs, {n, c, h, w})`. Copies
/// nothing; the caller keeps the memory alive. For float16, which has no C++ type, pass the bits:
/// `view_of(bits, shape, DType::float16)`.
template <class T>
[[nodiscard]] ArrayView view_of(const T* first, std::vector<std::size_t> shape, DType type = dtype_of<T>()) {
    std::vector<std::ptrdiff_t> strides = c_strides(shape, type);
    return {reinterpret_cast<const std::byte*>(first), type, std::move(shape), std::move(strides)};
}

/// An array view with an owner that keeps the memory alive: a buffer of the library, a mapped file, or an
/// object of the caller. Copies share the memory.
class Array {
  public:
    Array() = default;      ///< no array: empty() is true
    Array(ArrayView view);  ///< an array in memory that the caller keeps alive
    /// A view of memory that `owner` keeps alive (null: the caller keeps it alive).
    Array(ArrayView view, std::shared_ptr<const void> owner);
    /// A new zeroed C-order buffer; mutable_data() writes into it.
    static Array zeros(DType dtype, std::vector<std::size_t> shape);
    /// A copy of the values in C order. Throws an internal error unless the shape has as many elements.
    template <class T>
    static Array copy_of(const std::vector<T>& values, std::vector<std::size_t> shape);

    [[nodiscard]] const ArrayView& view() const { return view_; }       ///< the elements
    [[nodiscard]] bool empty() const { return view_.data == nullptr; }  ///< there is no array
    [[nodiscard]] DType dtype() const { return view_.dtype; }           ///< type of the elements
    /// Elements along each axis.
    [[nodiscard]] const std::vector<std::size_t>& shape() const { return view_.shape; }
    /// The elements to write to. Throws an internal error unless zeros() or copy_of() made the array.
    [[nodiscard]] std::byte* mutable_data();
    /// The elements without conversion. Not checked: the type must be T and the array contiguous.
    template <class T>
    [[nodiscard]] const T* data_as() const {
        return reinterpret_cast<const T*>(view_.data);
    }
    /// The elements in C order, converted to T by static_cast, for any dtype and strides. Allocates the
    /// result.
    template <class T>
    [[nodiscard]] std::vector<T> to_vector() const;

  private:
    friend struct ArrayAccess;

    ArrayView view_;
    std::shared_ptr<const void> owner_;
    std::byte* writable_ = nullptr;
    bool in_file_ = false;
};

}  // namespace kandinsky
