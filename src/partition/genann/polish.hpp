#pragma once

#include <functional>
#include <kandinsky/annuli.hpp>
#include <span>
#include <vector>

#include "partition/genann/fitness.hpp"

namespace kandinsky::partition::genann {

/// Compares candidates with a base candidate exactly, at the cost of the pixels that change region only.
/// Not for use from several threads; each comparison runs in parallel inside.
class Neighbourhood {
  public:
    virtual ~Neighbourhood() = default;
    /// fitness(candidate) - fitness(base).
    [[nodiscard]] virtual double change(const Spans& candidate) = 0;
    virtual void rebase(const Spans& candidate) = 0;
    /// Pairs of points measured so far; a deterministic measure of the work done.
    [[nodiscard]] virtual double work() const = 0;
};
/// By sums over the pairs of moved points.
[[nodiscard]] std::unique_ptr<Neighbourhood> euclidean_neighbourhood(const Cloud& cloud, const Spans& base);
/// By the difference of two scores, for a fitness that is cheap (counted as one pair per point).
[[nodiscard]] std::unique_ptr<Neighbourhood> scored_neighbourhood(const Cloud& cloud, const Fitness& fitness,
                                                                  const Spans& base);

struct PolishSettings {
    std::vector<double> step;  ///< one step of each parameter
    double first = 1;          ///< steps at once, to begin with
    double last = 0.125;       ///< and in the end
    double least = 0;          ///< smaller gains do not count: they may be rounding
    double work = 0;           ///< stop when the neighbourhood has done so much
};

/// Compass search: every parameter one step up and down, the first improvement is kept, the steps halve when
/// none improves. `spans_of` brings the parameters into their normal form. Returns the number of comparisons.
std::size_t polish(std::vector<double>& parameters, const PolishSettings& settings, Neighbourhood& near,
                   const std::function<Spans(std::vector<double>&)>& spans_of, Progress& progress);

}  // namespace kandinsky::partition::genann
