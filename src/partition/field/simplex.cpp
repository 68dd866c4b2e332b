#include "partition/field/simplex.hpp"

#include <Eigen/Dense>

namespace kandinsky::partition::field {

namespace {
/// The minimum on the plane sum = 1 with all weights but `active` at zero: A x = mu 1.
Eigen::VectorXd free_minimum(const Eigen::MatrixXd& a, const std::vector<Eigen::Index>& active) {
    const auto size = static_cast<Eigen::Index>(active.size());
    Eigen::MatrixXd part(size, size);
    for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j < size; ++j) part(i, j) = a(active[i], active[j]);
    const Eigen::VectorXd solution = part.ldlt().solve(Eigen::VectorXd::Ones(size));
    return solution / solution.sum();
}
}  // namespace

std::vector<double> simplex_minimum(const std::vector<double>& products, std::size_t n, double ridge) {
    const auto size = static_cast<Eigen::Index>(n);
    Eigen::MatrixXd a(size, size);
    for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j < size; ++j)
            a(i, j) = products[static_cast<std::size_t>(i * size + j)] + (i == j ? ridge : 0.0);
    Eigen::Index best = 0;
    for (Eigen::Index i = 1; i < size; ++i)
        if (a(i, i) < a(best, best)) best = i;
    Eigen::VectorXd w = Eigen::VectorXd::Zero(size);
    w[best] = 1;
    std::vector<Eigen::Index> active{best};
    // Each round lowers the objective, so no set of active weights comes twice; the bound is for rounding.
    for (Eigen::Index round = 0; round < 20 * size + 20; ++round) {
        const Eigen::VectorXd slope = a * w;
        const double level = w.dot(slope);
        Eigen::Index enter = -1;
        for (Eigen::Index i = 0; i < size; ++i)
            if (w[i] == 0 && slope[i] < level * (1 - 1e-10) && (enter < 0 || slope[i] < slope[enter]))
                enter = i;
        if (enter < 0) break;
        active.push_back(enter);
        while (true) {
            const Eigen::VectorXd target = free_minimum(a, active);
            // As far towards the minimum as all weights stay positive; who reaches zero leaves.
            double reach = 1;
            for (std::size_t i = 0; i < active.size(); ++i) {
                const double now = w[active[i]], then = target[static_cast<Eigen::Index>(i)];
                if (then <= 0) reach = std::min(reach, now / (now - then));
            }
            std::vector<Eigen::Index> kept;
            for (std::size_t i = 0; i < active.size(); ++i) {
                const double now = w[active[i]], then = target[static_cast<Eigen::Index>(i)];
                const bool leaves = then <= 0 && now / (now - then) <= reach;
                w[active[i]] = leaves ? 0.0 : now + reach * (then - now);
                if (!leaves) kept.push_back(active[i]);
            }
            const bool done = kept.size() == active.size();
            active = std::move(kept);
            if (done || active.empty()) break;
        }
        if (active.empty()) break;
    }
    std::vector<double> weights(w.data(), w.data() + size);
    double sum = 0;
    for (const double x : weights) sum += x;
    for (double& x : weights) x /= sum;
    return weights;
}

}  // namespace kandinsky::partition::field
