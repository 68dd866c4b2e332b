#pragma once

namespace kandinsky {

/// P(X > x) for X with the beta law of parameters a, b > 0; x in [0, 1].
double beta_above(double a, double b, double x);

/// The x with P(X > x) = rest, where X has the beta law of parameters a, b > 0; rest in [0, 1].
double beta_quantile_above(double a, double b, double rest);

/// P(X <= successes), where X counts the successes of independent trials that have the same chance.
/// `successes` is a whole number; it may be below 0 or above the number of trials.
double binomial_below(double trials, double chance, double successes);

}  // namespace kandinsky
