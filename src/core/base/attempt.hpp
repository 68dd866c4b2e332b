#pragma once

#include <exception>
#include <kandinsky/result.hpp>
#include <new>

namespace kandinsky {

/// Made when the program starts, because it could not be made when memory has run out. Copies do not
/// allocate.
inline const Error kOutOfMemory(ErrorKind::file, "out of memory; free some memory and try again");

/// The value of call(), or the Error that it threw; kOutOfMemory for std::bad_alloc. Other exceptions of the
/// standard library become internal errors.
template <class Call>
[[nodiscard]] auto attempt(Call&& call) noexcept -> Result<decltype(call())> {
    try {
        try {
            return call();
        } catch (const Error& error) {
            return error;
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& other) {
            return Error(ErrorKind::internal, other.what());  // allocates
        }
    } catch (const std::bad_alloc&) {
        return kOutOfMemory;
    }
}

}  // namespace kandinsky
