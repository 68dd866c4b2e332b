#include "io/onnx/adapted_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "score/score_scale.hpp"

namespace kandinsky {

namespace {
using Lengths = std::vector<std::int64_t>;
constexpr int kBitsPerBinade = 23;  // keys between two powers of 2: 2^23
constexpr float kBinadesToOne = 2.0f * (log_bits(0.5f) >> kBitsPerBinade);  // scale_key(1)

double in_binades(std::int64_t keys) {
    return std::ldexp(static_cast<double>(keys), -kBitsPerBinade);
}
}  // namespace

AdaptedGraph::AdaptedGraph(OnnxGraph& graph, const Calibrator& calibrator, std::uint64_t opset,
                           const std::string& probs, const std::vector<double>& alphas)
    : graph_(graph),
      opset_(opset),
      height_(calibrator.grid.height),
      width_(calibrator.grid.width),
      planes_(calibrator.strata() == 1 ? static_cast<std::int64_t>(calibrator.classes) : 1) {
    Lengths classes;
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        if (calibrator.adaptation_of(s) == nullptr) continue;
        strata_[s].tables = adapted_tables(calibrator, s, alphas);
        classes.push_back(static_cast<std::int64_t>(s));
    }
    const bool all = planes_ > 1 || classes.size() == calibrator.classes;
    add_features(all ? probs
                     : graph_.add("Gather", {probs, graph_.list(classes)}, {{"axis", std::int64_t{1}}}));
    std::int64_t place = 0;
    for (auto& [number, stratum] : strata_) {
        stratum.row = row_of(stratum.tables, place++);
        stratum.share = share_of(stratum.tables);
        if (!stratum.tables.region.empty())
            stratum.region = graph_.cast(graph_.small_integers({height_ * width_}, stratum.tables.region),
                                         OnnxType::int64);
    }
}

std::string AdaptedGraph::sum(const std::string& from, std::int64_t axis) {
    return graph_.add("ReduceSum", {from, graph_.list({axis})}, {{"keepdims", std::int64_t{0}}});
}

void AdaptedGraph::add_features(const std::string& probs) {
    // As in count_features(), p is a multiple of 1/4096 and p (1 - p) a multiple of 2^-18, so that sums in
    // float64 are exact. (OpenVINO 2026.4 sums int32 wrongly in batches of several images.)
    constexpr OnnxType kCounts = OnnxType::float64;
    const auto total = [&](const std::string& counted) {
        return graph_.add("ReduceSum", {counted, graph_.list({2, 3})}, {{"keepdims", std::int64_t{0}}});
    };
    const std::string zero = graph_.real(0), one = graph_.real(1);
    const std::string seen = graph_.add("Where", {graph_.add("Greater", {probs, zero}), probs, zero});
    const std::string p = graph_.add("Min", {seen, one});
    const std::string in_units = graph_.add(
        "Floor", {graph_.add("Add", {graph_.add("Mul", {p, graph_.real(4096)}), graph_.real(0.5f)})});
    const std::string own = graph_.cast(in_units, kCounts);
    const std::string product = graph_.add("Mul", {p, graph_.add("Sub", {one, p})});
    const std::string unsure =
        graph_.cast(graph_.add("Floor", {graph_.add("Mul", {product, graph_.real(262144)})}), kCounts);
    const std::string in = graph_.cast(graph_.add("Greater", {in_units, graph_.real(2048)}), kCounts);
    const std::string mass = total(own), doubt = total(unsure), inside = total(in);
    const std::string inside_mass = total(graph_.add("Mul", {own, in}));
    const std::string inside_doubt = total(graph_.add("Mul", {unsure, in}));

    const std::string known = graph_.add("Sub", {graph_.real(4096), in_units});
    const std::string first = graph_.add("Sqrt", {known});
    const std::string second = graph_.add("Mul", {graph_.add("Sqrt", {first}), graph_.real(8)});
    const auto weighted = [&](const std::string& root) {
        return total(graph_.cast(graph_.add("Floor", {graph_.add("Mul", {in_units, root})}), kCounts));
    };
    const std::string root = weighted(first), fourth = weighted(second);

    const auto pixels = static_cast<double>(height_ * width_);
    const auto log2 = [&](const std::string& share) {
        return graph_.add("Div", {graph_.add("Log", {share}), graph_.exact(std::numbers::ln2)});
    };
    const auto log_share = [&](const std::string& share) {
        return log2(graph_.add("Add", {share, graph_.exact(1.0 / 4096)}));
    };
    const auto log_mean = [&](const std::string& sum) {
        const std::string whole = graph_.add("Add", {mass, graph_.exact(pixels)});
        return log2(graph_.add("Div", {graph_.add("Add", {sum, graph_.exact(16 * pixels)}),
                                       graph_.add("Mul", {whole, graph_.exact(64)})}));
    };
    const std::string alone = graph_.exact(1), some = graph_.add("Max", {inside, alone});
    const std::string mean =
        graph_.add("Div", {inside_doubt, graph_.add("Mul", {some, graph_.exact(65536)})});
    features_ = {
        log_share(graph_.add("Div", {doubt, graph_.exact(pixels * 65536)})),
        log_share(graph_.add("Div", {mass, graph_.exact(pixels * 4096)})),
        log_share(graph_.add("Where", {graph_.add("Greater", {inside, graph_.exact(0)}), mean, alone})),
        graph_.add("Div", {graph_.add("Sub", {mass, inside_mass}),
                           graph_.add("Add", {mass, graph_.exact(pixels * 4)})}),
        log_mean(root),
        log_mean(fourth)};
    if (planes_ == 1) return;
    for (std::string& feature : features_)
        feature = graph_.add(
            "ReduceSum",
            {graph_.add("Div", {feature, graph_.exact(static_cast<double>(planes_))}), graph_.list({1})});
}

std::string AdaptedGraph::row_of(const AdaptedTables& tables, std::int64_t place) {
    const std::size_t fits = tables.constant.size();
    const Lengths shape{1, static_cast<std::int64_t>(fits)};
    std::string total = graph_.doubles(shape, tables.constant);
    for (std::size_t k = 0; k < features_.size(); ++k) {
        const auto part = [&](const std::vector<double>& of) {
            return graph_.doubles(shape, std::span(of).subspan(k * fits, fits));
        };
        const std::string feature =
            strata_.size() == 1
                ? features_[k]
                : graph_.add("Gather", {features_[k], graph_.list({place})}, {{"axis", std::int64_t{1}}});
        const std::string kept =
            graph_.add("Max", {graph_.add("Min", {feature, part(tables.high)}), part(tables.low)});
        total = graph_.add("Add", {total, graph_.add("Mul", {part(tables.slope), kept})});
    }
    const std::string most = opset_ < 18 ? graph_.add("ReduceMax", {total}, {{"axes", Lengths{1}}})
                                         : graph_.add("ReduceMax", {total, graph_.list({1})});
    constexpr double kLargest = Adaptation::kLargestShift;
    const std::string bounded = graph_.add("Clip", {most, graph_.exact(-kLargest), graph_.exact(kLargest)});
    const std::string steps =
        graph_.add("Ceil", {graph_.add("Mul", {bounded, graph_.exact(AdaptedTables::kSteps)})});
    const std::string from_least = graph_.add("Sub", {steps, graph_.exact(tables.least)});
    // In runtimes without float64 the result may be one step outside the range.
    return graph_.cast(graph_.add("Clip", {from_least, graph_.exact(0),
                                           graph_.exact(static_cast<double>(tables.rows() - 1))}),
                       OnnxType::int64);
}

std::string AdaptedGraph::share_of(const AdaptedTables& tables) {
    Lengths values(tables.share.begin(), tables.share.end());
    // Every share fits into two bytes except a last share of 1, which shares_at() restores.
    for (std::int64_t& value : values) value %= SmoothCurves::kOne;
    return graph_.small_integers({static_cast<std::int64_t>(values.size())}, values);
}

std::string AdaptedGraph::sets(std::size_t stratum, std::size_t alpha, const std::string& scores) {
    const Stratum& own = strata_.at(stratum);
    const AdaptedTables& tables = own.tables;
    const std::vector<double> levels(tables.levels[alpha].begin(), tables.levels[alpha].end());
    const std::string level =
        graph_.add("Gather", {graph_.doubles({static_cast<std::int64_t>(levels.size())}, levels), own.row});
    const std::string sure = graph_.add("LessOrEqual", {scores, limits(own, tables.sure[alpha])});
    const std::string perhaps = graph_.add("LessOrEqual", {scores, limits(own, tables.last[alpha])});
    const std::string open = graph_.add("And", {perhaps, graph_.add("Not", {sure})});
    return decide(own, level, scores, sure, open);
}

std::string AdaptedGraph::limits(const Stratum& stratum, const std::vector<std::uint16_t>& columns) {
    const AdaptedTables& tables = stratum.tables;
    const auto down = static_cast<std::int64_t>(tables.places_down()),
               across = static_cast<std::int64_t>(tables.places_across());
    const Lengths values(columns.begin(), columns.end()),
        shape{static_cast<std::int64_t>(tables.rows()), down, across};
    const std::string column = graph_.cast(
        graph_.add("Gather", {graph_.small_integers(shape, values), stratum.row}), OnnxType::int32);
    std::string limit = graph_.add(
        "Gather", {graph_.reals({static_cast<std::int64_t>(tables.limits.size())}, tables.limits), column});
    if (tables.region.empty()) {  // Whole rows are copied fastest, so they are gathered last.
        const std::string wide =
            graph_.add("Gather", {limit, graph_.list(tables.across.place)}, {{"axis", std::int64_t{3}}});
        return graph_.add("Gather", {wide, graph_.list(tables.down.place)}, {{"axis", std::int64_t{2}}});
    }
    if (across == 1) return limit;
    const std::string map = graph_.add("Reshape", {stratum.region, graph_.list({height_, width_})});
    const std::string line = graph_.add("Reshape", {limit, graph_.list({-1, 1, across})});
    return graph_.add("Gather", {line, map}, {{"axis", std::int64_t{2}}});
}

std::string AdaptedGraph::decide(const Stratum& stratum, const std::string& level, const std::string& scores,
                                 const std::string& sure, const std::string& open) {
    const AdaptedTables& tables = stratum.tables;
    const std::string flat = graph_.list({-1});
    const auto line = [&](const std::string& from) { return graph_.add("Reshape", {from, flat}); };
    const std::string which = line(graph_.add("NonZero", {line(open)}));
    const std::string pixels = graph_.integer(height_ * width_);
    const std::string plane = graph_.add("Div", {which, pixels});
    const std::string pixel = graph_.add("Sub", {which, graph_.add("Mul", {plane, pixels})});
    const std::string image = planes_ == 1 ? plane : graph_.add("Div", {plane, graph_.integer(planes_)});

    const std::string score = graph_.add("Gather", {line(scores), which});
    const auto count = static_cast<std::int64_t>(tables.columns());
    // Comparing scores with ends gives the same result as comparing keys with edges, in half the memory.
    const std::string beyond = graph_.add(
        "Greater", {graph_.add("Unsqueeze", {score, graph_.list({1})}),
                    graph_.reals({count - 2}, std::span(tables.ends).subspan(1, tables.columns() - 2))});
    const std::string column = graph_.cast(sum(graph_.cast(beyond, OnnxType::float32), 1), OnnxType::int64);
    const auto [passed, wide] = passed_of(tables, score, column);
    const auto [risen, left] = shares_at(stratum, pixel, column, graph_.add("Gather", {line(level), image}));
    const std::string in =
        graph_.add("LessOrEqual", {graph_.add("Mul", {risen, passed}), graph_.add("Mul", {left, wide})});
    return graph_.add("Reshape", {graph_.add("ScatterElements", {line(sure), which, in}),
                                  graph_.list({-1, planes_, height_, width_})});
}

std::pair<std::string, std::string> AdaptedGraph::passed_of(const AdaptedTables& tables,
                                                            const std::string& score,
                                                            const std::string& column) {
    // A key is measured in binades (intervals between two powers of 2) and split into a whole number and a
    // fraction. Both are exact in float32, and their differences nearly so. As a single number, the key would
    // lose its last bits in runtimes without float64.
    std::vector<float> ends, scales;
    for (int e = tables.low_exponent; e <= tables.high_exponent; ++e) {
        ends.push_back(std::ldexp(1.0f, e + 1));
        scales.push_back(std::ldexp(1.0f, -e));
    }
    scales.push_back(0);  // beyond the last binade
    const auto count = static_cast<std::int64_t>(ends.size());
    const std::string one = graph_.real(1), zero = graph_.real(0);
    const std::string size = graph_.add("Abs", {score}), beside = graph_.add("Sub", {size, one});
    const std::string upper = graph_.add("GreaterOrEqual", {size, graph_.real(0.5f)});
    const std::string distance = graph_.add("Where", {upper, graph_.add("Abs", {beside}), size});
    const std::string full =
        sum(graph_.cast(graph_.add("GreaterOrEqual", {graph_.add("Unsqueeze", {distance, graph_.list({1})}),
                                                      graph_.reals({count}, ends)}),
                        OnnxType::float32),
            1);
    const std::string scale =
        graph_.add("Gather", {graph_.reals({count + 1}, scales), graph_.cast(full, OnnxType::int64)});
    const std::string part =
        graph_.add("Clip", {graph_.add("Sub", {graph_.add("Mul", {distance, scale}), one}), zero, one});
    // The distance grows in both directions, away from 0 and away from 1.
    const std::string sign = graph_.add("Sign", {score});
    const std::string side =
        graph_.add("Mul", {sign, graph_.add("Where", {upper, graph_.add("Sign", {beside}), one})});
    const std::string origin =
        graph_.add("Mul", {sign, graph_.add("Where", {upper, graph_.real(kBinadesToOne), zero})});
    const std::string whole =
        graph_.add("Add", {full, graph_.real(static_cast<float>(tables.low_exponent + 24))});

    std::vector<float> edge_whole;
    std::vector<double> edge_part, widths;
    for (std::size_t i = 0; i < tables.columns(); ++i) {
        const std::int64_t edge = tables.edges[i], below = edge >> kBitsPerBinade << kBitsPerBinade;
        edge_whole.push_back(static_cast<float>(edge >> kBitsPerBinade));
        edge_part.push_back(in_binades(edge - below));
        if (i + 1 < tables.columns()) widths.push_back(in_binades(tables.edges[i + 1] - edge));
    }
    const auto columns = static_cast<std::int64_t>(tables.columns());
    const auto of_column = [&](const std::string& table) { return graph_.add("Gather", {table, column}); };
    const std::string wholes =
        graph_.add("Sub", {graph_.add("Add", {origin, graph_.add("Mul", {side, whole})}),
                           of_column(graph_.reals({columns}, edge_whole))});
    const std::string parts =
        graph_.add("Sub", {graph_.cast(graph_.add("Mul", {side, part}), OnnxType::float64),
                           of_column(graph_.doubles({columns}, edge_part))});
    const std::string passed = graph_.add("Add", {graph_.cast(wholes, OnnxType::float64), parts});
    const std::string wide = of_column(graph_.doubles({columns - 1}, widths));
    return {graph_.add("Min", {graph_.add("Max", {passed, graph_.exact(0)}), wide}), wide};
}

std::pair<std::string, std::string> AdaptedGraph::shares_at(const Stratum& stratum, const std::string& pixel,
                                                            const std::string& column,
                                                            const std::string& level) {
    const AdaptedTables& tables = stratum.tables;
    const std::string one = graph_.integer(1),
                      stride = graph_.integer(static_cast<std::int64_t>(tables.columns()));
    const auto both = [&](const std::string& cell) {
        const std::string at = graph_.add("Add", {graph_.add("Mul", {cell, stride}), column});
        const auto read = [&](const std::string& where) {
            return graph_.cast(graph_.add("Gather", {stratum.share, where}), OnnxType::float64);
        };
        const std::string below = read(at), above = read(graph_.add("Add", {at, one}));
        // Subtract first: the differences are small, and exact in float32 too.
        const std::string left = graph_.add("Sub", {level, below});
        if (tables.share.back() != SmoothCurves::kOne)
            return std::pair{graph_.add("Sub", {above, below}), left};
        const std::string final =
            graph_.add("Equal", {column, graph_.integer(static_cast<std::int64_t>(tables.columns()) - 2)});
        const std::string end = graph_.add("Where", {final, graph_.exact(SmoothCurves::kOne), above});
        return std::pair{graph_.add("Sub", {end, below}), left};
    };
    if (!tables.region.empty()) return both(graph_.add("Gather", {stratum.region, pixel}));

    const std::string across = graph_.integer(width_);
    const std::string row = graph_.add("Div", {pixel, across});
    const std::string place = graph_.add("Sub", {pixel, graph_.add("Mul", {row, across})});
    // The four cells around each pixel: [4,pixel].
    const auto corners = [&](const Lengths& first, const Lengths& second, bool slow, std::int64_t times) {
        Lengths all;
        for (const int corner : {0, 1, 2, 3})
            for (const std::int64_t one_of : (slow ? corner / 2 : corner % 2) == 0 ? first : second)
                all.push_back(one_of * times);
        return graph_.integers({4, static_cast<std::int64_t>(first.size())}, all);
    };
    const auto take = [&](const std::string& table, const std::string& where) {
        return graph_.add("Gather", {table, where}, {{"axis", std::int64_t{1}}});
    };
    const std::string cell = graph_.add(
        "Add",
        {take(corners(tables.down.low, tables.down.high, true, static_cast<std::int64_t>(tables.width)), row),
         take(corners(tables.across.low, tables.across.high, false, 1), place)});
    const std::string weight = graph_.cast(
        graph_.add("Mul",
                   {take(corners(tables.down.low_weight, tables.down.high_weight, true, 1), row),
                    take(corners(tables.across.low_weight, tables.across.high_weight, false, 1), place)}),
        OnnxType::float64);
    const auto [risen, left] = both(cell);
    return {sum(graph_.add("Mul", {risen, weight}), 0), sum(graph_.add("Mul", {left, weight}), 0)};
}

}  // namespace kandinsky
