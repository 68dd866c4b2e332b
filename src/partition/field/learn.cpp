#include "partition/field/learn.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "partition/field/simplex.hpp"

namespace kandinsky::partition::field {

std::vector<Candidate> candidates_on(const Cells& cells, CandidateOptions wanted) {
    for (double& bandwidth : wanted.bandwidths) bandwidth /= cells.side();
    return make_candidates(cells.grid(), wanted);
}

Learnt learn(const FoldHistograms& histograms, const Options& options, const Cells& cells, bool without_folds,
             Progress& progress) {
    Learnt out;
    out.candidates = candidates_on(cells, options.candidates);
    const FoldFields fields = fold_fields(cells, histograms, out.candidates);
    out.products = cross_validate(cells, histograms, out.candidates, fields, progress);
    // Where nothing can be judged (one group) all pixels share alike: the candidate with the least to go
    // wrong.
    out.weights.resize(out.candidates.size());
    out.weights[0] = 1;
    if (out.products.folds > 0)
        out.weights = simplex_minimum(out.products.values, out.candidates.size(), kRidge);
    const auto blended = [&](const CandidateFields& from) {
        return stored(blend(cells.grid(), from, out.weights, histograms.bins(), options.locality));
    };
    out.distributions = blended(CandidateFields(cells, histograms, histograms.folds(), out.candidates));
    for (std::size_t fold = 0; fold < fields.size() && without_folds; ++fold)
        out.without_fold.push_back(fields[fold] ? std::optional(blended(*fields[fold])) : std::nullopt);
    return out;
}

std::string describe(const Learnt& learnt, std::size_t folds, const Cells& cells, std::size_t bins) {
    const auto& [candidates, products, weights, distributions, without_fold] = learnt;
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
    return Json{{"kind", "field"}, {"candidates", list},   {"folds", folds},
                {"bins", bins},    {"cell", cells.side()}, {"loss", judged ? Json(loss) : Json()}}
        .dump();
}

SmoothCurves::Storage storage_on(const ScoreGrid& grid, const Cells& cells,
                                 std::optional<std::vector<std::uint16_t>> distributions) {
    SmoothCurves::Storage storage;
    storage.side = cells.side();
    if (!distributions) return storage;
    storage.origin = grid.origin();
    storage.largest = grid.largest();
    storage.edges = grid.edges();
    storage.cumulative = std::move(*distributions);
    return storage;
}

namespace {
// Far above rounding, far below a level: 0.3 * 65536 should not round up to the next number.
constexpr double kRounding = 1e-6;
}  // namespace

std::vector<std::uint32_t> levels_of(const Ladder& ladder, const GroupLevels* fitted) {
    std::vector<std::uint32_t> levels;
    for (const double level : ladder.levels) {
        const double wanted = fitted != nullptr ? fitted->quantile(level) : level;
        levels.push_back(
            std::isinf(wanted)
                ? SmoothCurves::kNever
                : std::min<std::uint32_t>(SmoothCurves::kOne, static_cast<std::uint32_t>(std::ceil(
                                                                  wanted * SmoothCurves::kOne - kRounding))));
    }
    return levels;
}

}  // namespace kandinsky::partition::field
