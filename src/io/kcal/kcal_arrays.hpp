#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/fail.hpp"
#include "io/zip/zip_reader.hpp"

namespace kandinsky {

/// The length of a shift's row: its stratum; the slopes, the lowest and the highest values of all features;
/// the constant.
[[nodiscard]] constexpr std::size_t shift_numbers(std::size_t features) {
    return 3 * features + 2;
}

/// An array of a given type and shape; an empty shape accepts any length.
template <class T>
[[nodiscard]] std::vector<T> read_member(const ZipReader& archive, const std::string& member,
                                         const std::vector<std::size_t>& shape,
                                         const std::vector<DType>& dtypes = {dtype_of<T>()}) {
    const Array array = archive.array(member);
    if (std::find(dtypes.begin(), dtypes.end(), array.dtype()) == dtypes.end() ||
        (shape.empty() ? array.shape().size() != 1 : array.shape() != shape))
        fail(ErrorKind::data, "{}: member {} has an unexpected type or shape ({} {})",
             archive.path().string(), member, name_of(array.dtype()), array.view().shape_text());
    return array.to_vector<T>();
}

}  // namespace kandinsky
