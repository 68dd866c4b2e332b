#include "partition/fcc/bands.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kandinsky::partition::fcc {

BilinearField::BilinearField(const FourierField& data)
    : width_(data.grid.width), height_(data.grid.height), features_(data.feature_count) {
    const std::size_t pixels = data.grid.pixels();
    std::vector<char> has_data(pixels);
    std::vector<double> mean(features_, 0.0);
    for (std::size_t p = 0; p < pixels; ++p) {
        if (data.counts[p] == 0) continue;
        const float* values = data.features.data() + p * features_;
        if (!std::all_of(values, values + features_, [](float v) { return std::isfinite(v); })) continue;
        has_data[p] = 1;
        data_pixels_ += 1;
        for (std::size_t f = 0; f < features_; ++f) mean[f] += static_cast<double>(values[f]);
    }
    for (double& m : mean) m /= std::max(1.0, data_pixels_);
    values_.assign(pixels * channels(), 0.0);
    for (std::size_t p = 0; p < pixels; ++p) {
        if (!has_data[p]) continue;
        double* out = values_.data() + p * channels();
        out[0] = 1.0;
        for (std::size_t f = 0; f < features_; ++f) {
            out[1 + f] = static_cast<double>(data.features[p * features_ + f]) - mean[f];
            total_variance_ += out[1 + f] * out[1 + f];
        }
    }
    total_variance_ /= std::max(1.0, data_pixels_);
}

namespace {
/// Running means over 2 reach + 1 places along `count` places `stride` apart, for `channels` adjacent lines.
void box_mean(double* first, std::size_t count, std::size_t stride, std::size_t channels, std::size_t reach,
              std::vector<double>& line) {
    line.resize(count * channels);
    std::vector<double> sum(channels, 0.0);
    std::size_t low = 0, high = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (; high < std::min(count, i + reach + 1); ++high)
            for (std::size_t c = 0; c < channels; ++c) sum[c] += first[high * stride + c];
        for (; low + reach < i; ++low)
            for (std::size_t c = 0; c < channels; ++c) sum[c] -= first[low * stride + c];
        const double scale = 1.0 / static_cast<double>(high - low);
        for (std::size_t c = 0; c < channels; ++c) line[i * channels + c] = sum[c] * scale;
    }
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < channels; ++c) first[i * stride + c] = line[i * channels + c];
}
}  // namespace

BilinearField BilinearField::blurred(double radius) const {
    // Three boxes of half-width b have variance b (b + 1).
    const auto reach = static_cast<std::size_t>(
        std::max(1.0, std::round(0.5 * (std::sqrt(1.0 + 4.0 * radius * radius) - 1.0))));
    BilinearField result = *this;
    const std::size_t n = channels();
    std::vector<double> line;
    for (int pass = 0; pass < 3; ++pass) {
        for (std::size_t y = 0; y < height_; ++y)
            box_mean(result.values_.data() + y * width_ * n, width_, n, n, reach, line);
        for (std::size_t x = 0; x < width_; ++x)
            box_mean(result.values_.data() + x * n, height_, width_ * n, n, reach, line);
    }
    // Running sums leave rounding errors where no data is near.
    for (std::size_t p = 0; p < width_ * height_; ++p) {
        double* v = result.values_.data() + p * n;
        if (v[0] < 1e-9) std::fill(v, v + n, 0.0);
    }
    return result;
}

namespace {
/// Data area in pixels below which the floor adds to the objective.
constexpr double kFloorArea = 16.0;
/// Distance in pixels from the centre below which the floor penalises the innermost curve. The paper's
/// penalty ignores this distance, and a descent would end if the curve reached the centre.
constexpr double kFloorRadius = 4.0;
/// The floor of a band without data, in units of the field's variance plus the penalty's weight.
constexpr double kFloorPrice = 100.0;
/// Data areas below this count as 0: quotients by them are rounding noise.
constexpr double kNoArea = 1e-9;
}  // namespace

std::size_t angle_count(const FourierOptions& options) {
    // A curve's area is proportional to the mean of g^4, where g has degree K - 1, so the mean over
    // 4 (K - 1) + 1 or more equispaced angles is exact.
    return std::max<std::size_t>(options.angles, std::size_t{4} * options.order);
}

BandObjective::BandObjective(const BilinearField& field, const FourierOptions& options)
    : field_(&field),
      frame_{field.right(), field.bottom(), options.limit},
      curves_(options.curves),
      variance_(options.variance),
      free_centre_(options.centre == FourierCentre::free),
      penalty_(options.penalty),
      directions_(equispaced(angle_count(options))),
      rule_(gauss_legendre(options.nodes)),
      border_(frame_, angle_count(options)) {
    const double share = field.data_pixels() / static_cast<double>(field.width() * field.height());
    const double area = share * frame_.right * frame_.bottom;
    floor_area_ = std::min(kFloorArea, 0.25 * area / static_cast<double>(curves_ + 1));
    floor_radius_ = std::min(kFloorRadius, 0.25 * frame_.scale() / static_cast<double>(curves_ + 1));
    floor_weight_ = kFloorPrice * (field.total_variance() + penalty_);
}

Rays BandObjective::rays(double column, double row) const {
    Rays rays{.column = column, .row = row, .limit = {}, .border = {}};
    rays.limit.reserve(directions_.size());
    for (std::size_t i = 0; i < directions_.size(); ++i)
        rays.limit.push_back(limit_radius(frame_, column, row, directions_.cosine[i], directions_.sine[i]));
    rays.border.reserve(border_.size());
    for (std::size_t j = 0; j < border_.size(); ++j) rays.border.push_back(border_.ray(j, column, row));
    return rays;
}

namespace {
/// The band's moments and, once it is known, the gradient of the objective with respect to them.
struct Band {
    std::vector<double> moment, price, by_column, by_row;
    explicit Band(std::size_t moments)
        : moment(moments), price(moments), by_column(moments), by_row(moments) {}
};

double worth(const double* a, const double* b, std::size_t n) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += a[j] * b[j];
    return sum;
}

/// The variance terms from the bands' moments (w, u, |u|^2 / w), and their gradients in the moments.
void price_bands(FourierVariance kind, std::vector<Band>& bands, FourierObjective& objective) {
    const std::size_t square = bands[0].moment.size() - 1;
    double total_area = 0, scatter = 0;
    for (Band& band : bands) {
        const double area = band.moment[0];
        total_area += area;
        objective.band_area.push_back(area);
        objective.band_variance.push_back(0.0);
        if (!(area > kNoArea)) continue;
        double norm = 0;
        for (std::size_t j = 1; j < square; ++j) norm += band.moment[j] * band.moment[j];
        const double variance = std::max(0.0, (band.moment[square] - norm / area) / area);
        objective.band_variance.back() = variance;
        scatter += variance * area;
        if (kind == FourierVariance::mean) objective.variance += variance;
        // d(variance), or for `area` d(area * variance), by the moments.
        const double scale = kind == FourierVariance::mean ? 1.0 / area : 1.0;
        band.price[square] = scale;
        for (std::size_t j = 1; j < square; ++j) band.price[j] = -2.0 * scale * band.moment[j] / area;
        band.price[0] =
            scale * norm / (area * area) - (kind == FourierVariance::mean ? variance / area : 0.0);
    }
    if (kind == FourierVariance::mean || !(total_area > kNoArea)) return;
    objective.variance = scatter / total_area;
    for (Band& band : bands) {
        for (double& price : band.price) price /= total_area;
        band.price[0] -= objective.variance / total_area;
    }
}
}  // namespace

template <bool kGradient, bool kByCentre>
FourierObjective BandObjective::evaluate_bands(const Rays& rays, const Radii& radii,
                                               Workspace& workspace) const {
    const std::size_t moments = this->moments(), angles = directions_.size(), borders = border_.size();
    const double step = 2.0 * std::numbers::pi / static_cast<double>(angles);
    SegmentSums& sums = workspace.sums;
    std::vector<Band> bands(curves_ + 1, Band(moments));
    // Slopes of every segment's moments: [curve][angle][low, high][moment], then [border ray][low][moment].
    workspace.slopes.resize((curves_ * angles * 2 + borders) * moments);
    double* slope = workspace.slopes.data();

    for (std::size_t l = 0; l < curves_; ++l) {
        Band& band = bands[l];
        for (std::size_t i = 0; i < angles; ++i) {
            sums.integrate<kByCentre>(*field_, rule_,
                                      Segment{.centre_column = rays.column,
                                              .centre_row = rays.row,
                                              .toward_column = directions_.cosine[i],
                                              .toward_row = directions_.sine[i],
                                              .low = l == 0 ? 0.0 : radii.ring[(l - 1) * angles + i],
                                              .high = radii.ring[l * angles + i],
                                              .pivot = 0.0});
            for (std::size_t j = 0; j < moments; ++j) {
                band.moment[j] += step * sums.value[j];
                slope[j] = step * sums.by_low[j];
                slope[moments + j] = step * sums.by_high[j];
                if constexpr (kByCentre) {
                    band.by_column[j] += step * sums.by_column[j];
                    band.by_row[j] += step * sums.by_row[j];
                }
            }
            slope += 2 * moments;
        }
    }
    for (std::size_t i = 0; i < borders; ++i) {
        Band& band = bands[curves_];
        const BorderRay& ray = rays.border[i];
        const double low = radii.border[i] / ray.length;
        sums.integrate<kByCentre>(*field_, rule_,
                                  Segment{.centre_column = rays.column,
                                          .centre_row = rays.row,
                                          .toward_column = ray.toward_column,
                                          .toward_row = ray.toward_row,
                                          .low = low,
                                          .high = 1.0,
                                          .pivot = 1.0});
        for (std::size_t j = 0; j < moments; ++j) {
            band.moment[j] += ray.weight * sums.value[j];
            slope[j] = ray.weight * sums.by_low[j] / ray.length;
            if constexpr (kByCentre) {
                // With the radius fixed, `low` = radius / length still moves with the centre.
                const double stretch = ray.weight * sums.by_low[j] * low / ray.length;
                band.by_column[j] += ray.weight * sums.by_column[j] + ray.weight_by_column * sums.value[j] +
                                     stretch * ray.cosine;
                band.by_row[j] +=
                    ray.weight * sums.by_row[j] + ray.weight_by_row * sums.value[j] + stretch * ray.sine;
            }
        }
        slope += moments;
    }

    FourierObjective objective;
    objective.floor_area = floor_area_;
    objective.floor_radius = floor_radius_;
    price_bands(variance_, bands, objective);
    for (Band& band : bands) {
        const double lack = 1.0 - band.moment[0] / floor_area_;
        if (!(lack > 0)) continue;
        objective.floor += floor_weight_ * lack * lack * lack;
        band.price[0] -= 3.0 * floor_weight_ * lack * lack / floor_area_;
    }

    Radii& gradient = workspace.gradient;
    if constexpr (kGradient) {
        gradient.ring.assign(curves_ * angles, 0.0);
        gradient.border.assign(borders, 0.0);
        gradient.column = gradient.row = 0;
        const double* read = workspace.slopes.data();
        for (std::size_t l = 0; l < curves_; ++l)
            for (std::size_t i = 0; i < angles; ++i, read += 2 * moments) {
                if (l > 0) gradient.ring[(l - 1) * angles + i] += worth(bands[l].price.data(), read, moments);
                gradient.ring[l * angles + i] += worth(bands[l].price.data(), read + moments, moments);
            }
        for (std::size_t i = 0; i < borders; ++i, read += moments)
            gradient.border[i] = worth(bands[curves_].price.data(), read, moments);
        if constexpr (kByCentre)
            for (const Band& band : bands) {
                gradient.column += worth(band.price.data(), band.by_column.data(), moments);
                gradient.row += worth(band.price.data(), band.by_row.data(), moments);
            }
    }

    const double share = floor_weight_ / static_cast<double>(angles);
    for (std::size_t i = 0; i < angles; ++i) {
        const double lack = 1.0 - radii.ring[i] / floor_radius_;
        if (!(lack > 0)) continue;
        objective.floor += share * lack * lack * lack;
        if constexpr (kGradient) gradient.ring[i] -= 3.0 * share * lack * lack / floor_radius_;
    }
    // The nesting penalty, gaps in units of the inscribed radius.
    const double unit = penalty_ * step * frame_.scale();
    for (std::size_t l = 1; l <= curves_; ++l)
        for (std::size_t i = 0; i < angles; ++i) {
            const double inner = radii.ring[(l - 1) * angles + i];
            const double outer = l < curves_ ? radii.ring[l * angles + i] : rays.limit[i].radius;
            const double term = unit / (outer - inner);
            objective.penalty += term;
            if constexpr (kGradient) {
                const double pull = term / (outer - inner);
                gradient.ring[(l - 1) * angles + i] += pull;
                if (l < curves_) gradient.ring[l * angles + i] -= pull;
                if (kByCentre && l == curves_) {
                    gradient.column -= pull * rays.limit[i].by_column;
                    gradient.row -= pull * rays.limit[i].by_row;
                }
            }
        }
    objective.total = objective.variance + objective.penalty + objective.floor;
    return objective;
}

template <bool kGradient>
FourierObjective BandObjective::evaluate(const Rays& rays, const Radii& radii, Workspace& workspace) const {
    return free_centre_ ? evaluate_bands<kGradient, true>(rays, radii, workspace)
                        : evaluate_bands<kGradient, false>(rays, radii, workspace);
}

template FourierObjective BandObjective::evaluate<true>(const Rays&, const Radii&, Workspace&) const;
template FourierObjective BandObjective::evaluate<false>(const Rays&, const Radii&, Workspace&) const;

}  // namespace kandinsky::partition::fcc
