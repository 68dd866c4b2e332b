#include "partition/field/learn.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/parallel.hpp"
#include "core/base/symmetric_matrix.hpp"
#include "partition/kernels.hpp"

namespace kandinsky::partition::field {

namespace {
void scale_to_one(std::vector<double>& weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= sum;
}

/// The minimum on the plane sum = 1 where all weights except `active` are zero: A x = mu 1.
std::vector<double> free_minimum(const SymmetricMatrix& a, const std::vector<std::size_t>& active) {
    SymmetricMatrix part(active.size());
    for (std::size_t i = 0; i < active.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) part(i, j) = a(active[i], active[j]);
    std::vector<double> solution = part.solve(std::vector<double>(active.size(), 1.0));
    scale_to_one(solution);
    return solution;
}
}  // namespace

std::vector<double> simplex_minimum(const std::vector<double>& products, std::size_t size, double ridge) {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    SymmetricMatrix a(size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j) a(i, j) = products[i * size + j] + (i == j ? ridge : 0.0);
    std::size_t best = 0;
    for (std::size_t i = 1; i < size; ++i)
        if (a(i, i) < a(best, best)) best = i;
    std::vector<double> w(size);
    w[best] = 1;
    std::vector<std::size_t> active{best};
    // Each round lowers the objective, so no active set is repeated; the limit guards against rounding.
    for (std::size_t round = 0; round < 20 * size + 20; ++round) {
        const std::vector<double> slope = a.times(w);
        const double level = dot(w, slope);
        std::size_t enter = kNone;
        for (std::size_t i = 0; i < size; ++i)
            if (w[i] == 0 && slope[i] < level * (1 - 1e-10) && (enter == kNone || slope[i] < slope[enter]))
                enter = i;
        if (enter == kNone) break;
        active.push_back(enter);
        while (true) {
            const std::vector<double> target = free_minimum(a, active);
            // Moves towards the minimum as far as all weights stay positive. Weights that reach zero leave
            // the active set.
            double reach = 1;
            for (std::size_t i = 0; i < active.size(); ++i) {
                const double now = w[active[i]], then = target[i];
                if (then <= 0) reach = std::min(reach, now / (now - then));
            }
            std::vector<std::size_t> kept;
            for (std::size_t i = 0; i < active.size(); ++i) {
                const double now = w[active[i]], then = target[i];
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
    scale_to_one(w);
    return w;
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
    // Kernels wider than a used one are kept too, because they replace it where it finds no votes.
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

}  // namespace kandinsky::partition::field
