#pragma once

#include <map>

#include "calibrate/adapted_tables.hpp"
#include "io/onnx/graph.hpp"

namespace kandinsky {

/// Adds the nodes for classes whose levels follow the image. They compute the features of the probabilities,
/// the shift, the level, and the sets at this level. As in Predictor, features are sums of whole numbers, and
/// the shift is computed in float64. A level therefore equals Predictor's up to the last bit of a logarithm.
class AdaptedGraph {
  public:
    /// `probs`: float32 [N,C,H,W].
    AdaptedGraph(OnnxGraph& graph, const Calibrator& calibrator, std::uint64_t opset,
                 const std::string& probs, const std::vector<double>& alphas);

    /// Adds the sets of a stratum, bool [N,planes,H,W]. `alpha`: an index into the constructor's alphas.
    /// `scores`: of the stratum's classes, float32 [N,planes,H,W].
    std::string sets(std::size_t stratum, std::size_t alpha, const std::string& scores);

  private:
    /// The tables and tensors of a stratum, which all alphas use.
    struct Stratum {
        AdaptedTables tables;
        std::string row;     ///< int64 [N,1], the row of the tables for each image
        std::string share;   ///< [cell * columns + column] the tables' shares, modulo SmoothCurves::kOne
        std::string region;  ///< int64 [pixel]; empty if cells form a lattice
    };

    void add_features(const std::string& probs);
    std::string row_of(const AdaptedTables& tables, std::int64_t place);
    std::string share_of(const AdaptedTables& tables);
    std::string limits(const Stratum& stratum, const std::vector<std::uint16_t>& columns);
    /// The sets: `sure`, and at the places of `open` the exact comparison of AdaptedTables.
    std::string decide(const Stratum& stratum, const std::string& level, const std::string& scores,
                       const std::string& sure, const std::string& open);
    /// The distance of a score from the start of its column, and the column's width: float64 [pixel].
    std::pair<std::string, std::string> passed_of(const AdaptedTables& tables, const std::string& score,
                                                  const std::string& column);
    /// How much the distribution rises in the column, and how far the level lies above the distribution at
    /// the start of the column: float64 [pixel].
    std::pair<std::string, std::string> shares_at(const Stratum& stratum, const std::string& pixel,
                                                  const std::string& column, const std::string& level);
    std::string sum(const std::string& from, std::int64_t axis);

    OnnxGraph& graph_;
    std::uint64_t opset_;
    std::int64_t height_, width_, planes_;
    std::vector<std::string> features_;  ///< float64 [N,stratum that adapts]
    std::map<std::size_t, Stratum> strata_;
};

}  // namespace kandinsky
