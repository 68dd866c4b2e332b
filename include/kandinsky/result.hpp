#pragma once

#include <kandinsky/error.hpp>
#include <kandinsky/export.hpp>
#include <utility>
#include <variant>

namespace KANDINSKY_API kandinsky {

/// The value of a call, or the error that the same call without `try_` throws: for callers without
/// exceptions.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      ///< the call succeeded
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  ///< it failed

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }  ///< the call succeeded
    explicit operator bool() const noexcept { return has_value(); }                ///< the call succeeded

    /// The value; throws the error if there is none.
    [[nodiscard]] const T& value() const& {
        if (!has_value()) throw error();
        return *std::get_if<0>(&state_);
    }
    /// The same, to move the value out.
    [[nodiscard]] T&& value() && {
        if (!has_value()) throw error();
        return std::move(*std::get_if<0>(&state_));
    }
    /// What went wrong. Undefined if has_value().
    [[nodiscard]] const Error& error() const noexcept { return *std::get_if<1>(&state_); }

  private:
    std::variant<T, Error> state_;
};

}  // namespace kandinsky
