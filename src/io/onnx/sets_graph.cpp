#include "io/onnx/sets_graph.hpp"

#include <fmt/format.h>

#include <kandinsky/predictor.hpp>
#include <numeric>
#include <optional>

#include "calibrate/empty_rule.hpp"
#include "io/onnx/adapted_graph.hpp"
#include "score/surroundings.hpp"

namespace kandinsky {

namespace {
using Lengths = std::vector<std::int64_t>;

/// Makes the nodes. Work on full planes is slow, so a result that several steps need is computed once.
class SetsGraph {
  public:
    SetsGraph(OnnxGraph& graph, const Calibrator& calibrator, const SetsInput& input,
              const std::vector<double>& alphas)
        : graph_(graph),
          calibrator_(calibrator),
          score_(calibrator.options.score),
          opset_(input.opset),
          classes_(static_cast<std::int64_t>(calibrator.classes)),
          height_(calibrator.grid.height),
          width_(calibrator.grid.width),
          alphas_(alphas),
          probs_(probabilities(input)) {
        if (calibrator.adapts()) adapted_.emplace(graph, calibrator, opset_, probs_, alphas);
    }

    /// The sets at one alpha. `place`: its index.
    std::string sets(std::size_t place, EmptySets empty) {
        std::string in = adapted_ ? members_by_stratum(place) : members(place);
        if (empty_rule(empty, calibrator_) == EmptySets::keep) return in;
        const std::string size = graph_.add(
            "ReduceSum",
            {graph_.add("Cast", {in}, {{"to", type_number(OnnxType::float32)}}), graph_.list({1})});
        const std::string nobody = graph_.add("Less", {size, graph_.real(0.5f)});
        return graph_.add("Or", {in, graph_.add("And", {nobody, most_probable()})});
    }

  private:
    /// The sets before empty sets are filled.
    std::string members(std::size_t place) {
        const Predictor predictor(calibrator_, alphas_[place]);
        const std::string limits = graph_.reals({classes_, height_, width_}, predictor.thresholds());
        return predictor.on_probabilities() ? graph_.add("GreaterOrEqual", {probs_, limits})
                                            : graph_.add("LessOrEqual", {scores(), limits});
    }

    std::string members_by_stratum(std::size_t place) {
        const bool by_class = calibrator_.strata() > 1;
        if (!by_class) return adapted_->sets(0, place, scores());
        const Predictor predictor(calibrator_, alphas_[place]);
        if (planes_.empty()) planes_ = split(predictor.on_probabilities() ? probs_ : scores());
        const std::size_t pixels = calibrator_.grid.pixels();
        std::vector<std::string> all;
        for (std::size_t c = 0; c < planes_.size(); ++c) {
            const std::string& plane = planes_[c];
            const std::string score =
                predictor.on_probabilities() ? graph_.add("Sub", {graph_.real(1), plane}) : plane;
            if (calibrator_.adaptation_of(c) != nullptr) {
                all.push_back(adapted_->sets(c, place, score));
                continue;
            }
            const std::string limits =
                graph_.reals({height_, width_}, predictor.thresholds().subspan(c * pixels, pixels));
            all.push_back(predictor.on_probabilities() ? graph_.add("GreaterOrEqual", {plane, limits})
                                                       : graph_.add("LessOrEqual", {plane, limits}));
        }
        return graph_.add("Concat", all, {{"axis", std::int64_t{1}}});
    }

    std::vector<std::string> split(const std::string& from) {
        const auto count = static_cast<std::size_t>(classes_);
        return graph_.add_several("Split", {from, graph_.list(Lengths(count, 1))}, count,
                                  {{"axis", std::int64_t{1}}});
    }

    static std::int64_t type_number(OnnxType type) { return static_cast<std::int64_t>(type); }

    /// float32 [N,C,H,W], as Dataset::read_probs() makes it.
    std::string probabilities(const SetsInput& input) {
        std::string p = input.tensor.name;
        const Lengths wanted{input.foreground ? 1 : classes_, height_, width_};
        constexpr const char* kAxes[] = {"classes", "rows", "columns"};
        // A Split into one part returns the tensor itself, and fails if the length differs. Without it, the
        // comparison with thresholds would broadcast a length of 1.
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (!input.tensor.shaped || input.tensor.shape[axis + 1] < 0)
                p = graph_.add("Split", {p, graph_.list({wanted[axis]})},
                               {{"axis", static_cast<std::int64_t>(axis + 1)}},
                               fmt::format("the calibrator needs {} {}", wanted[axis], kAxes[axis]));
        if (input.tensor.type != static_cast<std::uint64_t>(OnnxType::float32))
            p = graph_.add("Cast", {p}, {{"to", type_number(OnnxType::float32)}});
        if (input.logits == Logits::sigmoid) p = graph_.add("Sigmoid", {p});
        if (input.logits == Logits::softmax) p = graph_.add("Softmax", {p}, {{"axis", std::int64_t{1}}});
        if (input.foreground)
            p = graph_.add("Concat", {graph_.add("Sub", {graph_.real(1), p}), p},
                           {{"axis", std::int64_t{1}}});
        return p;
    }

    std::string largest(const std::string& from) {  // from version 18 on, the axes are an input
        return opset_ < 18 ? graph_.add("ReduceMax", {from}, {{"axes", Lengths{1}}})
                           : graph_.add("ReduceMax", {from, graph_.list({1})});
    }

    /// True at the most probable class of a pixel; of equally probable classes, the one with the lowest
    /// number.
    const std::string& most_probable() {
        if (!most_probable_.empty()) return most_probable_;
        Lengths numbers(static_cast<std::size_t>(classes_));
        std::iota(numbers.begin(), numbers.end(), 0);
        return most_probable_ =
                   graph_.add("Equal", {graph_.add("ArgMax", {probs_}, {{"axis", std::int64_t{1}}}),
                                        graph_.integers({1, classes_, 1, 1}, numbers)});
    }

    const std::string& scores() {
        if (scores_.empty())
            scores_ = score_.kind == ScoreKind::near     ? near()
                      : score_.kind == ScoreKind::lac    ? graph_.add("Sub", {graph_.real(1), probs_})
                      : score_.kind == ScoreKind::margin ? margin()
                                                         : ranked();
        return scores_;
    }

    std::string margin() {
        const std::string& top = most_probable();
        const std::string second = largest(graph_.add("Where", {top, graph_.real(-1), probs_}));
        return graph_.add("Sub", {graph_.add("Where", {top, second, largest(probs_)}), probs_});
    }

    /// The penalty of each rank, which is added to the sum of aps (raps) or to the largest probability
    /// (saps).
    [[nodiscard]] std::vector<float> penalties() const {
        std::vector<float> more(calibrator_.classes);
        for (std::size_t rank = 0; rank < more.size(); ++rank) {
            const std::size_t beyond = rank + 1 > score_.raps_kreg ? rank + 1 - score_.raps_kreg : 0;
            more[rank] = sums() ? static_cast<float>(score_.raps_lambda) * static_cast<float>(beyond)
                                : static_cast<float>(score_.saps_weight) * static_cast<float>(rank);
        }
        return more;
    }
    [[nodiscard]] bool sums() const { return score_.kind != ScoreKind::saps; }

    /// aps, raps, saps: computes a score for each rank, then assigns it to the class of this rank. Of equally
    /// probable classes the lower number comes first. Sums are added in the order of the ranks.
    std::string ranked() {
        constexpr std::int64_t kFew = 8;  // for more classes, comparing all pairs is slower than sorting
        return classes_ <= kFew ? ranked_planes() : ranked_by_sort();
    }

    std::string ranked_by_sort() {
        const std::vector<std::string> top =
            graph_.add_several("TopK", {probs_, graph_.list({classes_})}, 2, {{"axis", std::int64_t{1}}});
        const std::string &sorted = top[0], &order = top[1];
        std::string by_rank;
        if (sums()) {
            const std::int64_t axis = 1;
            by_rank = graph_.add("CumSum", {sorted, graph_.integers({}, {&axis, 1})});
        } else {
            by_rank = graph_.add("Slice", {sorted, graph_.list({0}), graph_.list({1}), graph_.list({1})});
        }
        if (score_.kind != ScoreKind::aps)
            by_rank = graph_.add("Add", {by_rank, graph_.reals({1, classes_, 1, 1}, penalties())});
        return graph_.add("ScatterElements", {probs_, order, by_rank}, {{"axis", std::int64_t{1}}});
    }

    /// The same result by comparisons of whole planes. This is several times faster than the runtimes' sort,
    /// which works pixel by pixel.
    std::string ranked_planes() {
        const auto count = static_cast<std::size_t>(classes_);
        const std::vector<std::string> planes = split(probs_);
        std::vector<std::string> by_rank = planes;  // sorted by odd-even transposition, then summed
        for (std::size_t round = 0; round < count; ++round)
            for (std::size_t i = round % 2; i + 1 < count; i += 2) {
                const std::string above = by_rank[i], below = by_rank[i + 1];
                by_rank[i] = graph_.add("Max", {above, below});
                by_rank[i + 1] = graph_.add("Min", {above, below});
            }
        for (std::size_t rank = 1; rank < count; ++rank)
            by_rank[rank] = sums() ? graph_.add("Add", {by_rank[rank - 1], by_rank[rank]}) : by_rank[0];
        const std::vector<float> more = penalties();
        for (std::size_t rank = 0; rank < count && score_.kind != ScoreKind::aps; ++rank)
            by_rank[rank] = graph_.add("Add", {by_rank[rank], graph_.real(more[rank])});
        // behind[j][c]: 1 where class c > j comes after j. The rank of c is the number of classes before it.
        std::vector<std::vector<std::string>> behind(count, std::vector<std::string>(count));
        for (std::size_t j = 0; j < count; ++j)
            for (std::size_t c = j + 1; c < count; ++c)
                behind[j][c] = graph_.add("Cast", {graph_.add("GreaterOrEqual", {planes[j], planes[c]})},
                                          {{"to", type_number(OnnxType::float32)}});
        std::vector<std::string> scores;
        for (std::size_t c = 0; c < count; ++c) {
            std::string place;  // the rank of c minus the number of classes > c
            for (std::size_t j = 0; j < c; ++j)
                place = place.empty() ? behind[j][c] : graph_.add("Add", {place, behind[j][c]});
            for (std::size_t j = c + 1; j < count; ++j)
                place = place.empty() ? graph_.add("Neg", {behind[c][j]})
                                      : graph_.add("Sub", {place, behind[c][j]});
            std::string score = by_rank[0];
            for (std::size_t rank = 1; rank < count; ++rank) {
                const auto limit = static_cast<float>(rank + c) - static_cast<float>(count) + 0.5f;
                score = graph_.add(
                    "Where", {graph_.add("Greater", {place, graph_.real(limit)}), by_rank[rank], score});
            }
            scores.push_back(score);
        }
        // All comparisons with NaN are false. Adding p - p makes a NaN's score NaN, so its class is in no
        // set.
        return graph_.add("Add", {graph_.add("Concat", scores, {{"axis", std::int64_t{1}}}),
                                  graph_.add("Sub", {probs_, probs_})});
    }

    std::string near() {
        const Surroundings around(calibrator_.grid);
        const std::int64_t side = around.side(), down = around.cells().height, across = around.cells().width;
        std::string cells = probs_;
        if (side > 1)
            cells = graph_.add("MaxPool", {cells},
                               {{"kernel_shape", Lengths{side, side}},
                                {"strides", Lengths{side, side}},
                                {"pads", Lengths{0, 0, down * side - height_, across * side - width_}}});
        const std::string distance = distances(codes(cells), down, across, around.doublings());
        std::string more =
            graph_.add("Mul", {graph_.real(Surroundings::kWeight / Surroundings::kTop), distance});
        if (side > 1) {
            const float scales[] = {1, 1, static_cast<float>(side), static_cast<float>(side)};
            more = graph_.add("Resize", {more, "", graph_.reals({4}, scales)},
                              {{"mode", "nearest"},
                               {"coordinate_transformation_mode", "asymmetric"},
                               {"nearest_mode", "floor"}});
            if (down * side != height_ || across * side != width_)
                more = graph_.add("Slice", {more, graph_.list({0, 0}), graph_.list({height_, width_}),
                                            graph_.list({2, 3})});
        }
        return graph_.add("Add", {graph_.add("Sub", {graph_.real(1), probs_}), more});
    }

    /// How likely the class is in each cell, as an integer from 0 to 65535 in float32. All later integers are
    /// below 2^24, so float32 represents them exactly.
    std::string codes(const std::string& cells) {
        const std::string one = graph_.real(1), half = graph_.real(Surroundings::kHalfway);
        const std::string known = graph_.add("Clip", {cells, graph_.real(0), one});
        const std::string seen =
            graph_.add("Div", {graph_.add("Mul", {graph_.real(1 + Surroundings::kHalfway), known}),
                               graph_.add("Add", {known, half})});
        const std::string scaled =
            graph_.add("Mul", {graph_.add("Min", {seen, one}), graph_.real(Surroundings::kTop)});
        return graph_.add("Floor", {graph_.add("Add", {scaled, graph_.real(0.5f)})});
    }

    /// Distances, from maxima over windows of radius 1, 2, 4, ... Each maximum is computed from shifted
    /// maxima of the smaller window. A shift is a Pad with 0, the smallest code. Pooling is not used,
    /// because runtimes refuse padding that exceeds the kernel, and wide kernels are slow.
    std::string distances(std::string window, std::int64_t down, std::int64_t across, unsigned doublings) {
        std::string sum;
        for (unsigned step = 0; step <= doublings; ++step) {
            const std::int64_t r = step == 0 ? 1 : std::int64_t{1} << (step - 1);
            for (std::size_t axis = 2; axis < 4; ++axis) {
                if (r >= (axis == 2 ? down : across)) continue;  // the window already covers the axis
                Lengths forth(8), back(8);
                forth[axis] = back[axis + 4] = r;
                forth[axis + 4] = back[axis] = -r;
                window = graph_.add("Max", {window, graph_.add("Pad", {window, graph_.list(forth)}),
                                            graph_.add("Pad", {window, graph_.list(back)})});
            }
            const std::string weighted =
                r == 1 ? window : graph_.add("Mul", {window, graph_.real(static_cast<float>(r))});
            sum = step == 0 ? weighted : graph_.add("Add", {sum, weighted});
        }
        const auto widest = static_cast<float>(1u << doublings);  // also the sum of the weights
        const std::string rest = graph_.add("Sub", {graph_.real(Surroundings::kTop * widest), sum});
        return graph_.add("Floor", {graph_.add("Mul", {rest, graph_.real(1 / widest)})});
    }

    OnnxGraph& graph_;
    const Calibrator& calibrator_;
    const ScoreOptions& score_;
    std::uint64_t opset_;
    std::int64_t classes_, height_, width_;
    const std::vector<double>& alphas_;
    std::string probs_, scores_, most_probable_;
    std::vector<std::string> planes_;  ///< of scores; of probabilities for the score lac
    std::optional<AdaptedGraph> adapted_;
};
}  // namespace

std::vector<std::string> add_sets(OnnxGraph& graph, const Calibrator& calibrator, const SetsInput& input,
                                  const std::vector<double>& alphas, EmptySets empty) {
    SetsGraph nodes(graph, calibrator, input, alphas);
    std::vector<std::string> names;
    for (std::size_t place = 0; place < alphas.size(); ++place) {
        names.push_back(fmt::format("sets_{}", alphas[place]));
        graph.output(
            nodes.sets(place, empty), names.back(),
            {static_cast<std::int64_t>(calibrator.classes), calibrator.grid.height, calibrator.grid.width});
    }
    return names;
}

}  // namespace kandinsky
