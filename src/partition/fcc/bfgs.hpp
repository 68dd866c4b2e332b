#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kandinsky::partition::fcc {

/// Returns the value and fills the gradient. +inf means that the point is not allowed; the gradient is then
/// ignored. A value or gradient that is not finite counts as +inf.
using Differentiable = std::function<double(std::span<const double> at, std::span<double> gradient)>;

struct DescentOptions {
    std::uint32_t iterations = 150;
    double gradient_tolerance = 1e-9;  ///< largest component, relative to max(1, |value|)
    double decrease_tolerance = 1e-9;  ///< relative decrease over `patience` iterations
    std::uint32_t patience = 5;
    double first_step = 0.02;  ///< length of the first trial step
};

struct Descent {
    std::vector<double> at;
    double value = 0;  ///< never above the value at the start
    std::uint32_t iterations = 0;
    std::uint32_t evaluations = 0;
    std::string stop;  ///< "gradient", "decrease", "line search", "iterations", "infeasible start"
};

/// Dense BFGS on the inverse Hessian with a bisecting weak-Wolfe line search. A value of +inf counts as a
/// step that is too long, so every accepted point is allowed. The line search brackets and does not
/// interpolate, which is robust at kinks. `each_iteration` may throw to stop. Deterministic; memory n^2.
[[nodiscard]] Descent minimise(const Differentiable& function, std::vector<double> start,
                               const DescentOptions& options,
                               const std::function<void()>& each_iteration = {});

}  // namespace kandinsky::partition::fcc
