#include "adapted.hpp"

#include <kandinsky/predictor.hpp>

#include "calibrate/adapted_tables.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
/// One array of all alphas.
template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& each) {
    std::vector<T> all;
    for (const std::vector<T>& one : each) all.insert(all.end(), one.begin(), one.end());
    return all;
}

nb::dict axis_of(const AdaptedTables::Axis& axis) {
    const std::size_t length = axis.place.size();
    nb::dict out;
    out["place"] = Array::copy_of(axis.place, {length});
    std::vector<std::int64_t> cells = axis.low, weights = axis.low_weight;
    cells.insert(cells.end(), axis.high.begin(), axis.high.end());
    weights.insert(weights.end(), axis.high_weight.begin(), axis.high_weight.end());
    out["cells"] = Array::copy_of(cells, {2, length});
    out["weights"] = Array::copy_of(weights, {2, length});
    return out;
}
}  // namespace

Array limits_of(const Calibrator& calibrator, double alpha) {
    const Predictor predictor(calibrator, alpha, EmptySets::keep);
    const std::span<const float> limits = predictor.thresholds();
    return Array::copy_of(std::vector<float>(limits.begin(), limits.end()),
                          {calibrator.classes, calibrator.grid.height, calibrator.grid.width});
}

nb::object tables_of(const Calibrator& calibrator, std::size_t stratum, const std::vector<double>& alphas) {
    if (calibrator.adaptation_of(stratum) == nullptr) return nb::none();
    const AdaptedTables tables = adapted_tables(calibrator, stratum, alphas);
    const std::size_t fits = tables.constant.size(), columns = tables.columns();
    const std::size_t rows = tables.rows(), down = tables.places_down(), across = tables.places_across();
    const std::vector<std::uint16_t> sure = joined(tables.sure), last = joined(tables.last);
    nb::dict out;
    out["slope"] = Array::copy_of(tables.slope, {ImageFeatures::kCount, fits});
    out["low"] = Array::copy_of(tables.low, {ImageFeatures::kCount, fits});
    out["high"] = Array::copy_of(tables.high, {ImageFeatures::kCount, fits});
    out["constant"] = Array::copy_of(tables.constant, {fits});
    out["least"] = tables.least;
    out["steps"] = AdaptedTables::kSteps;
    out["levels"] = Array::copy_of(joined(tables.levels), {alphas.size(), rows});
    out["sure"] = Array::copy_of(sure, {alphas.size(), rows, down, across});
    out["last"] = Array::copy_of(last, {alphas.size(), rows, down, across});
    out["limits"] = Array::copy_of(tables.limits, {tables.limits.size()});
    out["ends"] = Array::copy_of(tables.ends, {columns});
    out["edges"] = Array::copy_of(tables.edges, {columns});
    out["share"] = Array::copy_of(tables.share, {tables.cells(), columns});
    out["unit"] = tables.unit;
    out["exponents"] = nb::make_tuple(tables.low_exponent, tables.high_exponent);
    out["width"] = tables.width;
    if (tables.region.empty()) {
        out["down"] = axis_of(tables.down);
        out["across"] = axis_of(tables.across);
    } else {
        out["region"] = Array::copy_of(tables.region, {tables.region.size()});
    }
    return out;
}

}  // namespace kandinsky::python
