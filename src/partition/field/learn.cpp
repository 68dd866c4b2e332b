#include "partition/field/learn.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/parallel.hpp"
#include "partition/kernels.hpp"

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
    // Each round lowers the objective, so no active set is repeated; the limit guards against rounding.
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
            // Moves towards the minimum as far as all weights stay positive. Weights that reach zero leave
            // the active set.
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

Plane blend(const Grid& grid, const CandidateFields& fields, const std::vector<double>& weights,
            std::size_t bins, const Locality& locality) {
    std::vector<std::size_t> used;
    std::vector<float> fraction;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        if (!(weights[k] > 0)) continue;
        used.push_back(k);
        fraction.push_back(static_cast<float>(weights[k]));
    }
    Plane out(grid, bins);
    parallel_for(grid.height, [&](std::size_t y) {
        std::vector<float> each(used.size() * bins);
        std::vector<const float*> rows;
        for (std::size_t i = 0; i < used.size(); ++i) rows.push_back(each.data() + i * bins);
        for (std::size_t cell = y * grid.width; cell < (y + 1) * grid.width; ++cell) {
            for (std::size_t i = 0; i < used.size(); ++i) fields.at(cell, used[i], each.data() + i * bins);
            float* const own = out.at(cell);
            weighted_sum(rows.data(), fraction.data(), rows.size(), bins, own);
            const float local = static_cast<float>(locality.place) *
                                (locality.support ? fields.support(cell, locality.unit) : 1.0f);
            for (std::size_t b = 0; b < bins; ++b)
                own[b] = std::min(1.0f, local * own[b] + (1 - local) * fields.image()[b]);
            own[bins - 1] = 1;
        }
    });
    return out;
}

std::vector<std::uint16_t> stored(const Plane& blended) {
    const std::size_t bins = blended.bins - 1, cells = blended.grid.pixels();
    std::vector<std::uint16_t> out(cells * bins);
    for (std::size_t cell = 0; cell < cells; ++cell)
        for (std::size_t b = 0; b < bins; ++b)
            out[cell * bins + b] = static_cast<std::uint16_t>(
                std::min(65535.0f, blended.at(cell)[b] * static_cast<float>(SmoothCurves::kOne)));
    return out;
}

std::vector<Candidate> candidates_on(const Cells& cells, CandidateOptions wanted) {
    for (double& bandwidth : wanted.bandwidths) bandwidth /= cells.side();
    return make_candidates(cells.grid(), wanted);
}

Learnt learn(const FoldHistograms& histograms, const Options& options, const Cells& cells, bool without_folds,
             Progress& progress) {
    Learnt out;
    out.candidates = candidates_on(cells, options.candidates);
    {
        const FoldHistograms coarse = histograms.halved();
        out.products = cross_validate(cells, coarse, out.candidates,
                                      fold_fields(cells, coarse, out.candidates), progress);
    }
    // If nothing can be validated (one group), all pixels use the image's distribution, the safest choice.
    out.weights.resize(out.candidates.size());
    out.weights[0] = 1;
    if (out.products.folds > 0)
        out.weights = simplex_minimum(out.products.values, out.candidates.size(), kRidge);
    std::vector<Candidate> used;
    std::vector<double> weights;
    // A wider kernel is used where a narrow one finds no votes.
    bool narrower = false;
    for (std::size_t k = 0; k < out.weights.size(); ++k) {
        const bool space = out.candidates[k].kind == Candidate::Kind::space;
        narrower = narrower || (space && out.weights[k] > 0);
        if (!(out.weights[k] > 0) && !(space && narrower)) continue;
        used.push_back(out.candidates[k]);
        weights.push_back(out.weights[k]);
    }
    const auto blended = [&](std::size_t fold) {
        const CandidateFields fields(cells, histograms, fold, used);
        return stored(blend(cells.grid(), fields, weights, histograms.bins(), options.locality));
    };
    out.fit.whole = blended(histograms.folds());
    for (std::size_t fold = 0; fold < histograms.folds() && without_folds; ++fold)
        out.fit.without_fold.push_back(
            CandidateFields::possible(histograms, fold) ? std::optional(blended(fold)) : std::nullopt);
    return out;
}

std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells, std::size_t bins,
                     const LearntShift* shift) {
    const auto& [candidates, products, weights, fit] = learnt;
    using Json = nlohmann::json;
    const bool judged = products.folds > 0;
    Json list = Json::array();
    double loss = 0;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        const Candidate& one = candidates[k];
        for (std::size_t j = 0; j < candidates.size(); ++j)
            loss += weights[j] * weights[k] * products.at(j, k);
        list.push_back(
            {{"bandwidth", one.kind == Candidate::Kind::image ? Json() : Json(one.bandwidth * cells.side())},
             {"mirror", one.mirror},
             {"rings", one.kind == Candidate::Kind::rings ? Json(one.tau) : Json()},
             {"weight", weights[k]},
             {"loss", judged ? Json(products.at(k, k)) : Json()}});
    }
    Json out{{"kind", "field"}, {"candidates", list},   {"folds", folds},
             {"bins", bins},    {"cell", cells.side()}, {"loss", judged ? Json(loss) : Json()}};
    if (shift != nullptr) out["adapt"] = Json::parse(partition::describe(*shift));
    return out.dump();
}

}  // namespace kandinsky::partition::field
