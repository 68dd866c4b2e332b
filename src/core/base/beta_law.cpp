#include "core/base/beta_law.hpp"

#include <boost/math/special_functions/beta.hpp>

namespace kandinsky {

double beta_above(double a, double b, double x) {
    return boost::math::ibetac(a, b, x);
}

double beta_quantile_above(double a, double b, double rest) {
    return boost::math::ibetac_inv(a, b, rest);
}

double binomial_below(double trials, double chance, double successes) {
    if (successes < 0) return 0;
    if (successes >= trials) return 1;
    return beta_above(successes + 1, trials - successes, chance);
}

}  // namespace kandinsky
