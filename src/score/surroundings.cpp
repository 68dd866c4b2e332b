#include "score/surroundings.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <vector>

#include "core/base/thread_buffer.hpp"

namespace kandinsky {

namespace {
// These constants are part of the definition of `near`: do not change them.
constexpr std::uint32_t kSides = 256;  // (height + width) / 256 pixels are the side of a cell
constexpr std::uint32_t kReach = 8;    // windows reach (height + width) / 8 cells at most
constexpr float kHalfway = Surroundings::kHalfway;
constexpr std::uint16_t kTop = Surroundings::kTop;

std::uint16_t code_of(float p) {
    const float known = p > 0 ? std::min(p, 1.0f) : 0.0f;
    const float seen = (1 + kHalfway) * known / (known + kHalfway);
    return static_cast<std::uint16_t>(std::min(seen, 1.0f) * kTop + 0.5f);
}

void larger(const std::uint16_t* a, const std::uint16_t* b, std::size_t n, std::uint16_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = std::max(a[i], b[i]);
}

/// out[x] = the larger of in[x - r] and in[x + r]; beyond a border, the value at the border counts.
void widen_row(const std::uint16_t* in, std::size_t width, std::size_t r, std::uint16_t* out) {
    const std::size_t edge = std::min(r, width);
    for (std::size_t x = 0; x < edge; ++x) out[x] = std::max(in[0], in[std::min(x + r, width - 1)]);
    if (width > 2 * r) larger(in, in + 2 * r, width - 2 * r, out + r);
    for (std::size_t x = std::max(edge, width - std::min(edge, width)); x < width; ++x)
        out[x] = std::max(in[x - r], in[width - 1]);
}
}  // namespace

Surroundings::Surroundings(Grid image) : image_(image) {
    side_ = std::max(1u, (image.height + image.width) / kSides);
    cells_ = {(image.height + side_ - 1) / side_, (image.width + side_ - 1) / side_};
    while ((2u << doublings_) * kReach <= cells_.height + cells_.width) ++doublings_;
}

PixelRange Surroundings::pixels_of(std::size_t first, std::size_t last) const {
    const std::size_t line = std::size_t{image_.width} * side_;
    return {first * line, std::min(image_.pixels(), last * line)};
}

void Surroundings::look(std::size_t first, std::size_t last, const float* probs, std::uint16_t* codes) const {
    const std::size_t width = image_.width;
    if (side_ == 1) {
        std::uint16_t* const out = codes + first * width;
        for (std::size_t i = 0; i < (last - first) * width; ++i) out[i] = code_of(probs[i]);
        return;
    }
    std::vector<float>& best = thread_buffer<float, Surroundings>();
    best.resize(width);
    for (std::size_t y = first; y < last; ++y) {
        const std::size_t rows = pixels_of(y, y + 1).size() / width;
        std::fill(best.begin(), best.end(), 0.0f);
        for (std::size_t row = 0; row < rows; ++row, probs += width)
            for (std::size_t x = 0; x < width; ++x) best[x] = probs[x] > best[x] ? probs[x] : best[x];
        std::uint16_t* const out = codes + y * cells_.width;
        for (std::size_t cell = 0; cell < cells_.width; ++cell) {
            const auto begin = best.begin() + static_cast<std::ptrdiff_t>(cell * side_);
            const std::size_t n = std::min<std::size_t>(side_, width - cell * side_);
            out[cell] = code_of(*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(n)));
        }
    }
}

void Surroundings::spread(std::uint16_t* cells) const {
    const std::size_t width = cells_.width, height = cells_.height, n = cells_.pixels();
    std::vector<std::uint16_t>& rows = thread_buffer<std::uint16_t, Surroundings>();
    std::vector<std::uint32_t>& sum = thread_buffer<std::uint32_t, Surroundings>();
    rows.resize(n);
    sum.assign(n, 0);
    // Windows of radius 1, 2, 4, ...: the maximum over 2r is that of two windows of r, at -r and +r.
    for (unsigned step = 0; step <= doublings_; ++step) {
        const std::size_t r = step == 0 ? 1 : std::size_t{1} << (step - 1);
        for (std::size_t y = 0; y < height; ++y) {
            widen_row(cells + y * width, width, r, rows.data() + y * width);
            if (step == 0) larger(rows.data() + y * width, cells + y * width, width, rows.data() + y * width);
        }
        for (std::size_t y = 0; y < height; ++y) {
            const std::uint16_t* const above = rows.data() + (y < r ? 0 : y - r) * width;
            const std::uint16_t* const below = rows.data() + std::min(y + r, height - 1) * width;
            larger(above, below, width, cells + y * width);
            if (step == 0) larger(cells + y * width, rows.data() + y * width, width, cells + y * width);
        }
        const auto weight = static_cast<std::uint32_t>(r);
        for (std::size_t i = 0; i < n; ++i) sum[i] += weight * static_cast<std::uint32_t>(kTop - cells[i]);
    }
    for (std::size_t i = 0; i < n; ++i) cells[i] = static_cast<std::uint16_t>(sum[i] >> doublings_);
}

void Surroundings::score(PixelRange range, const float* probs, const std::uint16_t* distances,
                         float* scores) const {
    constexpr float kStep = kWeight / kTop;
    const std::size_t width = image_.width;
    if (side_ == 1) {
        const std::uint16_t* const own = distances + range.begin;
        for (std::size_t i = 0; i < range.size(); ++i)
            scores[i] = (1.0f - probs[i]) + kStep * static_cast<float>(own[i]);
        return;
    }
    for (std::size_t at = 0; at < range.size();) {
        const std::size_t pixel = range.begin + at, column = pixel % width;
        const std::size_t end = at + std::min(width - column, range.size() - at);
        const std::uint16_t* cell = distances + pixel / width / side_ * cells_.width + column / side_;
        for (std::size_t left = side_ - column % side_; at < end; left = side_, ++cell) {
            const float more = kStep * static_cast<float>(*cell);
            const std::size_t stop = std::min(end, at + left);
            for (; at < stop; ++at) scores[at] = (1.0f - probs[at]) + more;
        }
    }
}

ImageStore::Numbers distances_of(const Dataset& data, std::size_t image) {
    return store_of(data).get(row_of(data, image), [&] {
        const Surroundings near(data.grid());
        const std::size_t cells = near.cells().pixels(), height = near.cells().height;
        const std::size_t line = near.pixels_of(0, 1).size();
        const std::size_t some = std::clamp<std::size_t>(8192 / line, 1, height);
        std::vector<std::uint16_t> out(data.classes() * cells);
        std::vector<float>& probs = thread_buffer<float, ImageStore>();
        probs.resize(data.classes() * some * line);
        for (std::size_t y = 0; y < height; y += some) {
            const std::size_t end = std::min(height, y + some);
            const PixelRange range = near.pixels_of(y, end);
            data.read_probs(image, range, probs);
            for (std::size_t c = 0; c < data.classes(); ++c)
                near.look(y, end, probs.data() + c * range.size(), out.data() + c * cells);
        }
        for (std::size_t c = 0; c < data.classes(); ++c) near.spread(out.data() + c * cells);
        return out;
    });
}

}  // namespace kandinsky
