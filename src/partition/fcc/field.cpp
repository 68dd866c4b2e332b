#include "partition/fcc/field.hpp"

#include <cmath>

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
/// Running means over 2 reach + 1 places along `count` places `stride` apart, for `channels` adjacent lines
/// at once.
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
    // Running sums leave rounding dust where no data is near.
    for (std::size_t p = 0; p < width_ * height_; ++p) {
        double* v = result.values_.data() + p * n;
        if (v[0] < 1e-9) std::fill(v, v + n, 0.0);
    }
    return result;
}

}  // namespace kandinsky::partition::fcc
