#pragma once

#include <kandinsky/error.hpp>
#include <kandinsky/export.hpp>
#include <utility>
#include <variant>

namespace KANDINSKY_API kandinsky {

/// The value of a call, or the error that the call without `try_` would throw. Programs may be compiled with
/// -fno-exceptions; they test a result before they read it.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      ///< the call succeeded
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  ///< the call failed

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }  ///< the call succeeded
    explicit operator bool() const noexcept { return has_value(); }                ///< the call succeeded

    /// The value. Throws the error if there is no value.
    [[nodiscard]] const T& value() const& {
        if (!has_value()) error().raise();
        return **this;
    }
    /// The value, moved out of the result. Throws the error if there is no value.
    [[nodiscard]] T&& value() && {
        if (!has_value()) error().raise();
        return std::move(*std::get_if<0>(&state_));
    }
    /// The value. Undefined unless has_value().
    [[nodiscard]] const T& operator*() const noexcept { return *std::get_if<0>(&state_); }
    /// A member of the value. Undefined unless has_value().
    [[nodiscard]] const T* operator->() const noexcept { return std::get_if<0>(&state_); }
    /// What went wrong. Undefined if has_value().
    [[nodiscard]] const Error& error() const noexcept { return *std::get_if<1>(&state_); }

  private:
    std::variant<T, Error> state_;
};

}  // namespace kandinsky
