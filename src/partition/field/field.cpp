#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/fail.hpp"
#include "partition/field/blend.hpp"
#include "partition/field/cross_validation.hpp"
#include "partition/field/levels.hpp"
#include "partition/field/simplex.hpp"

namespace kandinsky::partition::field {

extern const Method kMethod;

namespace {
constexpr double kRidge = 1e-5;

struct Options {
    std::size_t folds = 5, bins = 128;
    FoldOrder order = FoldOrder::content;
    CandidateOptions candidates;
};

std::vector<double> parse_bandwidths(const std::string& text) {
    std::vector<double> all;
    for (const char* at = text.data(); text != "auto";) {
        const char* const end = text.data() + text.size();
        double value = 0;
        const auto [next, status] = std::from_chars(at, end, value);
        if (status != std::errc() || !(value >= 0.3 && value <= 1e4) || (next != end && *next != ','))
            fail(ErrorKind::usage,
                 "--field-bandwidths is '{}', but must be 'auto' or pixels from 0.3 to 10000 separated by "
                 "commas",
                 text);
        all.push_back(value);
        if (next == end) break;
        at = next + 1;
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Options read_options(const MethodSettings* settings) {
    PartitionInput input;
    input.settings = settings;
    Options options;
    options.folds = static_cast<std::size_t>(integer_option(kMethod, input, "field-folds", 2, 200));
    options.bins = static_cast<std::size_t>(integer_option(kMethod, input, "field-bins", 8, 256));
    options.order = text_option(kMethod, input, "field-fold-order", {"content", "contiguous"}) == "content"
                        ? FoldOrder::content
                        : FoldOrder::contiguous;
    options.candidates.rings = text_option(kMethod, input, "field-rings", {"on", "off"}) == "on";
    options.candidates.mirror = text_option(kMethod, input, "field-mirror", {"on", "off"}) == "on";
    options.candidates.bandwidths = parse_bandwidths(text_option(kMethod, input, "field-bandwidths"));
    return options;
}

std::string describe(const std::vector<Candidate>& candidates, const std::vector<double>& weights,
                     const ErrorProducts& products, const Folds& folds, const Cells& cells,
                     std::size_t bins) {
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
    return Json{{"kind", "field"}, {"candidates", list},   {"folds", folds.count},
                {"bins", bins},    {"cell", cells.side()}, {"loss", judged ? Json(loss) : Json()}}
        .dump();
}

/// What was learnt about one stratum.
struct Learnt {
    Folds folds;
    ScoreGrid grid;
    FoldHistograms histograms;
    std::vector<Candidate> candidates;
    ErrorProducts products;
    std::vector<double> weights;

    [[nodiscard]] Plane distributions(const Cells& cells) const {
        return blend(cells.grid(), CandidateFields(cells.grid(), histograms, folds.count, candidates),
                     weights, grid.bins());
    }
};

std::vector<Candidate> candidates_on(const Cells& cells, CandidateOptions wanted) {
    for (double& bandwidth : wanted.bandwidths) bandwidth /= cells.side();
    return make_candidates(cells.grid(), wanted);
}

Learnt learn(const SoftInput& input, const Options& options, const Cells& cells) {
    Folds folds = make_folds(input.data, input.census.image_hash, options.folds, options.order, input.seed);
    ScoreGrid grid = make_score_grid(input, options.bins);
    FoldHistograms histograms = count_scores(input, grid, folds, cells);
    std::vector<Candidate> candidates = candidates_on(cells, options.candidates);
    ErrorProducts products = cross_validate(cells.grid(), histograms, candidates, input.progress);
    // Where nothing can be judged (one group) all pixels share alike: the candidate with the least to go
    // wrong.
    std::vector<double> weights(candidates.size());
    weights[0] = 1;
    if (products.folds > 0) weights = simplex_minimum(products.values, candidates.size(), kRidge);
    return {std::move(folds),      std::move(grid),     std::move(histograms),
            std::move(candidates), std::move(products), std::move(weights)};
}

/// Reads every cell's distribution: at the ladder's levels, or at the groups' quantiles for them.
CurveSet read_curves(const SoftInput& input, const ScoreGrid& grid, const Cells& cells,
                     const Plane& distributions, const std::optional<GroupLevels>& fitted) {
    const std::size_t pixels = cells.image().pixels(), count = cells.grid().pixels();
    std::vector<std::uint64_t> scores(count);
    for (std::size_t p = 0; p < pixels; ++p)
        scores[cells.of(p)] += input.census.counts[input.stratum * pixels + p];
    std::vector<double> levels = input.ladder.levels;
    for (double& level : levels) level = fitted ? fitted->quantile(level) : level;
    CurveSet curves(input.ladder, input.released);
    curves.reserve(count, count * levels.size());
    for (std::size_t cell = 0; cell < count; ++cell) {
        // A cell without scores of its own still has a curve, from those around it.
        CurveSet::Curve curve{.scores = std::max<std::uint64_t>(1, scores[cell]),
                              .groups = fitted ? fitted->groups() : 0,
                              .complete = false,
                              .values = {}};
        curve.values.reserve(levels.size());
        for (const double level : levels)
            curve.values.push_back(std::isinf(level) ? std::numeric_limits<float>::infinity()
                                   : fitted          ? score_up_to(grid, distributions.at(cell), level)
                                                     : score_at(grid, distributions.at(cell), level));
        curves.append(curve);
    }
    return curves;
}

/// Curves without a score: the class is in every set.
SoftCurves nothing_known(const SoftInput& input, const Cells& cells) {
    SoftCurves result;
    result.curves = CurveSet(input.ladder, input.released);
    for (std::size_t cell = 0; cell < cells.grid().pixels(); ++cell) result.curves.append(CurveSet::Curve{});
    result.partition.geometry = describe({}, {}, {}, {}, cells, 0);
    return result;
}

/// The curves of what was learnt, read at the groups' levels where there are some.
SoftCurves finished(const SoftInput& input, const Learnt& learnt, const Cells& cells,
                    const Plane& distributions, const std::optional<GroupLevels>& levels) {
    SoftCurves result;
    result.curves = read_curves(input, learnt.grid, cells, distributions, levels);
    result.partition.geometry =
        describe(learnt.candidates, learnt.weights, learnt.products, learnt.folds, cells, learnt.grid.bins());
    return result;
}

/// Distributions from some groups, levels from the others.
SoftCurves share_split(const SoftInput& input, const Options& options, const Cells& cells) {
    const Halves& halves = *input.halves;
    if (halves.nobody_learns || halves.nobody_levels) return nothing_known(input, cells);
    const auto part = [&](const Dataset& data, const Census& census) {
        return SoftInput{.data = data,
                         .census = census,
                         .condition = input.condition,
                         .score = input.score,
                         .stratum = input.stratum,
                         .pooling = input.pooling,
                         .ladder = input.ladder,
                         .released = input.released,
                         .seed = input.seed,
                         .settings = input.settings,
                         .progress = input.progress};
    };
    const Dataset ours = input.data.subset(halves.learn), others = input.data.subset(halves.level);
    const Census census = take_census(ours, input.condition, input.progress);
    if (census.totals[input.stratum] == 0) return nothing_known(input, cells);
    const Learnt learnt = learn(part(ours, census), options, cells);
    const Plane distributions = learnt.distributions(cells);
    return finished(input, learnt, cells, distributions,
                    held_out_levels(part(others, input.census), learnt.grid, cells, distributions));
}

SoftCurves share_all(const SoftInput& input, const Options& options, const Cells& cells) {
    const Learnt learnt = learn(input, options, cells);
    std::optional<GroupLevels> levels;
    if (input.pooling == Pooling::groups)
        levels = cross_fitted_levels(input, learnt.grid, learnt.folds, cells, learnt.histograms,
                                     learnt.candidates, learnt.weights);
    return finished(input, learnt, cells, learnt.distributions(cells), levels);
}

/// The blend's weights for a fold come from the products of the other folds.
CrossFit cross_fit(const CrossFitInput& input) {
    const Options options = read_options(input.settings);
    const Grid grid = input.cells.grid();
    std::vector<Candidate> candidates = candidates_on(input.cells, options.candidates);
    const ErrorProducts products = cross_validate(grid, input.histograms, candidates, input.progress);
    const FoldHistograms& histograms = input.histograms;
    return {[=, &histograms](std::size_t fold) {
        std::vector<double> weights(candidates.size()), others(candidates.size() * candidates.size());
        weights[0] = 1;
        std::size_t judges = 0;
        for (std::size_t f = 0; f < products.by_fold.size(); ++f) {
            if (f == fold || products.by_fold[f].empty()) continue;
            ++judges;
            for (std::size_t i = 0; i < others.size(); ++i) others[i] += products.by_fold[f][i];
        }
        for (double& value : others) value /= static_cast<double>(std::max<std::size_t>(1, judges));
        if (judges > 0) weights = simplex_minimum(others, candidates.size(), kRidge);
        return blend(grid, CandidateFields(grid, histograms, fold, candidates), weights, histograms.bins());
    }};
}

SoftCurves share(const SoftInput& input) {
    const Options options = read_options(input.settings);
    const Cells cells(input.data.grid());
    SoftCurves result = input.census.totals[input.stratum] == 0 ? nothing_known(input, cells)
                        : input.pooling == Pooling::groups && input.halves != nullptr
                            ? share_split(input, options, cells)
                            : share_all(input, options, cells);
    result.partition.regions = static_cast<std::uint32_t>(cells.grid().pixels());
    for (std::size_t p = 0; p < input.data.grid().pixels(); ++p)
        result.partition.region.push_back(static_cast<std::uint32_t>(cells.of(p)));
    return result;
}
}  // namespace

const Method kMethod{
    .name = "field",
    .summary = "every pixel shares with its surroundings by degrees, as cross-validation finds best",
    .uses_features = false,
    .uses_labels = true,
    .options = {{.flag = "field-folds",
                 .type = MethodOption::Type::integer,
                 .standard = "5",
                 .help = "parts for the cross-validation of method field, 2 to 200"},
                {.flag = "field-fold-order",
                 .type = MethodOption::Type::text,
                 .standard = "content",
                 .help =
                     "'content': folds by group id or image content; 'contiguous': by position, for video"},
                {.flag = "field-rings",
                 .type = MethodOption::Type::text,
                 .standard = "on",
                 .help = "let pixels share where the class is equally common: on or off"},
                {.flag = "field-mirror",
                 .type = MethodOption::Type::text,
                 .standard = "on",
                 .help = "let pixels share with their left-right image: on or off"},
                {.flag = "field-bandwidths",
                 .type = MethodOption::Type::text,
                 .standard = "auto",
                 .help = "kernel widths in pixels, separated by commas, or 'auto' by the grid's size"},
                {.flag = "field-bins",
                 .type = MethodOption::Type::integer,
                 .standard = "128",
                 .help = "score thresholds of the distributions, 8 to 256"}},
    .order = 5,
    .share = share,
    .cross_fit = cross_fit,
};

}  // namespace kandinsky::partition::field
