#pragma once

namespace kandinsky {

/// P(X > x) for X with the beta law of parameters a, b > 0; x in [0, 1].
double beta_above(double a, double b, double x);

/// The x with P(X > x) = rest, for X with the beta law of parameters a, b > 0; rest in [0, 1].
double beta_quantile_above(double a, double b, double rest);

/// P(X <= successes) for X, the number of successes in independent trials of the same chance; successes is a
/// whole number, below 0 and above the number of trials too.
double binomial_below(double trials, double chance, double successes);

}  // namespace kandinsky
