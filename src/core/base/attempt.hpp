#pragma once

#include <kandinsky/result.hpp>
#include <new>

namespace kandinsky {

/// The value of call(), or what it threw.
template <class Call>
[[nodiscard]] auto attempt(Call&& call) noexcept -> Result<decltype(call())> {
    try {
        return call();
    } catch (const Error& error) {
        return error;
    } catch (const std::bad_alloc&) {
        return Error(ErrorKind::internal, "out of memory");
    } catch (const std::exception& other) {
        return Error(ErrorKind::internal, other.what());
    }
}

}  // namespace kandinsky
