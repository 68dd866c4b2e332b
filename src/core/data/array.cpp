#include <kandinsky/array.hpp>

#include <bit>
#include <cstring>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"

// Exported, because the templates of the header are instantiated here.
namespace KANDINSKY_API kandinsky {

namespace {
struct Info {
    std::size_t size;
    std::string_view name;
};
constexpr Info kInfo[] = {{1, "bool"},   {1, "int8"},    {1, "uint8"},   {2, "int16"},
                          {2, "uint16"}, {4, "int32"},   {4, "uint32"},  {8, "int64"},
                          {8, "uint64"}, {2, "float16"}, {4, "float32"}, {8, "float64"}};
}  // namespace

std::size_t size_of(DType dtype) {
    return kInfo[static_cast<std::size_t>(dtype)].size;
}
std::string_view name_of(DType dtype) {
    return kInfo[static_cast<std::size_t>(dtype)].name;
}
bool is_floating(DType dtype) {
    return dtype >= DType::float16;
}
bool is_integer(DType dtype) {
    return !is_floating(dtype);
}

std::size_t ArrayView::size() const {
    std::size_t n = 1;
    for (const std::size_t extent : shape) n *= extent;
    return n;
}

bool ArrayView::is_c_contiguous() const {
    if (size() == 0) return true;
    const std::vector<std::ptrdiff_t> wanted = c_strides(shape, dtype);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] > 1 && strides[axis] != wanted[axis]) return false;  // else the stride is not used
    return true;
}

std::string ArrayView::shape_text() const {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<std::ptrdiff_t> c_strides(const std::vector<std::size_t>& shape, DType dtype) {
    std::vector<std::ptrdiff_t> strides(shape.size());
    auto step = static_cast<std::ptrdiff_t>(size_of(dtype));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        strides[axis] = step;
        step *= static_cast<std::ptrdiff_t>(shape[axis]);
    }
    return strides;
}

Array::Array(ArrayView view) : view_(std::move(view)) {}

Array::Array(ArrayView view, std::shared_ptr<const void> owner)
    : view_(std::move(view)), owner_(std::move(owner)) {}

Array Array::zeros(DType dtype, std::vector<std::size_t> shape) {
    Array array;
    array.view_.dtype = dtype;
    array.view_.shape = std::move(shape);
    array.view_.strides = c_strides(array.view_.shape, dtype);
    const std::size_t bytes = std::max<std::size_t>(1, array.view_.size() * size_of(dtype));
    auto buffer = std::make_shared<std::vector<std::byte>>(bytes);
    array.writable_ = buffer->data();
    array.view_.data = buffer->data();
    array.owner_ = std::move(buffer);
    return array;
}

std::byte* Array::mutable_data() {
    if (writable_ == nullptr) fail(ErrorKind::internal, "[array] this array is read-only");
    return writable_;
}

template <class T>
DType dtype_of() {
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::float32 : DType::float64;
    // The integer types are ordered by width, signed types first.
    const int place = 2 * std::countr_zero(sizeof(T)) + (std::is_unsigned_v<T> ? 1 : 0);
    return static_cast<DType>(static_cast<int>(DType::int8) + place);
}

template <class T>
Array Array::copy_of(const std::vector<T>& values, std::vector<std::size_t> shape) {
    Array array = zeros(dtype_of<T>(), std::move(shape));
    if (array.view_.size() != values.size())
        fail(ErrorKind::internal, "[array] {} values do not fill shape {}", values.size(),
             array.view_.shape_text());
    if (!values.empty()) std::memcpy(array.writable_, values.data(), values.size() * sizeof(T));
    return array;
}

template <class T>
std::vector<T> Array::to_vector() const {
    std::vector<T> out(view_.size());
    if (out.empty()) return out;
    const std::size_t run = view_.rank() == 0 ? 1 : view_.shape.back();
    T* to = out.data();
    for_each_line(view_, [&](const std::byte* start) {
        convert_elements(start, view_.dtype, view_.rank() == 0 ? 0 : view_.strides.back(), run, to);
        to += run;
    });
    return out;
}

#define KANDINSKY_ARRAY_OF(T)                                                          \
    template DType dtype_of<T>();                                                      \
    template Array Array::copy_of<T>(const std::vector<T>&, std::vector<std::size_t>); \
    template std::vector<T> Array::to_vector<T>() const;
KANDINSKY_ARRAY_OF(std::int8_t)
KANDINSKY_ARRAY_OF(std::uint8_t)
KANDINSKY_ARRAY_OF(std::int16_t)
KANDINSKY_ARRAY_OF(std::uint16_t)
KANDINSKY_ARRAY_OF(std::int32_t)
KANDINSKY_ARRAY_OF(std::uint32_t)
KANDINSKY_ARRAY_OF(std::int64_t)
KANDINSKY_ARRAY_OF(std::uint64_t)
KANDINSKY_ARRAY_OF(float)
KANDINSKY_ARRAY_OF(double)
#undef KANDINSKY_ARRAY_OF

}  // namespace kandinsky
