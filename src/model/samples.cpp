#include "model/samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/data/elements.hpp"

namespace kandinsky {

Intensity intensity_of(std::string_view name) {
    if (name == "none") return Intensity::none;
    if (name == "byte") return Intensity::byte;
    if (name == "percentile") return Intensity::percentile;
    fail(ErrorKind::usage, "`intensity` is '{}', but must be none, byte or percentile", name);
}

Samples::Samples(Array pixels, Array labels, Array groups, Intensity intensity,
                 std::vector<std::int64_t> ignore, std::string pixels_name, std::string labels_name)
    : pixels_(std::move(pixels)),
      labels_(std::move(labels)),
      intensity_(intensity),
      ignore_(std::move(ignore)),
      pixels_name_(std::move(pixels_name)),
      labels_name_(std::move(labels_name)) {
    const auto& shape = pixels_.shape();
    if (shape.size() != 3 && shape.size() != 4)
        fail(ErrorKind::data, "{} has shape {}, but images are [N, H, W] or [N, channels, H, W]",
             pixels_name_, pixels_.view().shape_text());
    count_ = shape[0];
    channels_ = shape.size() == 4 ? shape[1] : 1;
    grid_ = {.height = static_cast<std::uint32_t>(shape[shape.size() - 2]),
             .width = static_cast<std::uint32_t>(shape.back())};
    if (count_ == 0 || channels_ == 0 || grid_.pixels() == 0)
        fail(ErrorKind::data, "{} has shape {}: it is empty", pixels_name_, pixels_.view().shape_text());
    if (labelled()) {
        const std::vector<std::size_t> wanted{count_, grid_.height, grid_.width};
        if (labels_.shape() != wanted)
            fail(ErrorKind::data, "{} has shape {}, but {} images of {} x {} need [{}, {}, {}]", labels_name_,
                 labels_.view().shape_text(), count_, grid_.height, grid_.width, count_, grid_.height,
                 grid_.width);
        if (!is_integer(labels_.dtype()))
            fail(ErrorKind::data, "{} holds {}, but labels are whole numbers", labels_name_,
                 name_of(labels_.dtype()));
    }
    if (!groups.empty()) {
        if (groups.shape() != std::vector<std::size_t>{count_} || !is_integer(groups.dtype()))
            fail(ErrorKind::data, "groups have shape {}, but {} whole numbers are needed, one per image",
                 groups.view().shape_text(), count_);
        groups_ = groups.to_vector<std::int64_t>();
    }
    if (intensity_ == Intensity::percentile) find_scales();
}

std::int64_t Samples::group(std::size_t sample) const {
    return groups_.empty() ? static_cast<std::int64_t>(sample) : groups_[sample];
}

void Samples::find_scales() {
    std::map<std::int64_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < count_; ++i) members[group(i)].push_back(i);
    std::vector<const std::vector<std::size_t>*> lists;
    lists.reserve(members.size());
    for (const auto& [id, list] : members) lists.push_back(&list);
    low_.resize(count_);
    scale_.resize(count_);
    parallel_for(lists.size(), [&](std::size_t g) {
        const std::size_t plane = grid_.pixels();
        std::vector<float> values;
        std::vector<float> one(plane);
        for (const std::size_t i : *lists[g])
            for (std::size_t c = 0; c < channels_; ++c) {
                read_plane(pixels_.view(), i, c, grid_, one.data());
                // Padding around a scan is exactly 0 and is not part of its intensities.
                for (const float value : one)
                    if (value != 0 && std::isfinite(value)) values.push_back(value);
            }
        float low = 0, high = 1;
        if (!values.empty()) {
            const auto at = [&](double level) {
                const auto k = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size() - 1));
                std::nth_element(values.begin(), values.begin() + k, values.end());
                return values[static_cast<std::size_t>(k)];
            };
            low = at(0.005);
            high = at(0.995);
        }
        for (const std::size_t i : *lists[g]) {
            low_[i] = low;
            scale_[i] = high > low ? 1 / (high - low) : 0;
        }
    });
}

std::size_t Samples::classes() const {
    std::vector<std::int64_t> largest(count_, -1);
    parallel_for(count_, [&](std::size_t i) {
        std::vector<std::int64_t> labels(grid_.pixels());
        read_plane(labels_.view(), i, 0, grid_, labels.data());
        for (std::size_t p = 0; p < labels.size(); ++p) {
            if (std::find(ignore_.begin(), ignore_.end(), labels[p]) != ignore_.end()) continue;
            if (labels[p] < 0 || labels[p] > 65535)
                fail(ErrorKind::data, "{}: image {}, row {}, column {} has label {}; list it in `ignore`",
                     labels_name_, i, p / grid_.width, p % grid_.width, labels[p]);
            largest[i] = std::max(largest[i], labels[p]);
        }
    });
    return static_cast<std::size_t>(*std::max_element(largest.begin(), largest.end()) + 1);
}

void Samples::read_pixels(std::size_t sample, float* out) const {
    const std::size_t plane = grid_.pixels();
    for (std::size_t c = 0; c < channels_; ++c) {
        float* const to = out + c * plane;
        read_plane(pixels_.view(), sample, c, grid_, to);
        for (std::size_t p = 0; p < plane; ++p)
            if (!std::isfinite(to[p]))
                fail(ErrorKind::data, "{}: image {}, channel {}, row {}, column {} is {}", pixels_name_,
                     sample, c, p / grid_.width, p % grid_.width, to[p]);
        if (intensity_ == Intensity::byte)
            for (std::size_t p = 0; p < plane; ++p) to[p] /= 255;
        if (intensity_ == Intensity::percentile)
            for (std::size_t p = 0; p < plane; ++p)
                to[p] = std::clamp((to[p] - low_[sample]) * scale_[sample], 0.0F, 1.0F);
    }
}

void Samples::read_targets(std::size_t sample, std::size_t outputs, std::uint8_t* targets,
                           std::uint8_t* valid) const {
    const std::size_t plane = grid_.pixels();
    std::vector<std::int64_t> labels(plane);
    read_plane(labels_.view(), sample, 0, grid_, labels.data());
    for (std::size_t p = 0; p < plane; ++p) {
        const bool counts = std::find(ignore_.begin(), ignore_.end(), labels[p]) == ignore_.end();
        valid[p] = counts ? 1 : 0;
        if (counts && (labels[p] < 0 || (outputs > 1 && labels[p] >= static_cast<std::int64_t>(outputs))))
            fail(ErrorKind::data, "{}: image {}, row {}, column {} has label {}, but there are {} classes",
                 labels_name_, sample, p / grid_.width, p % grid_.width, labels[p], outputs);
        for (std::size_t c = 0; c < outputs; ++c)
            targets[c * plane + p] =
                counts && (outputs == 1 ? labels[p] != 0 : labels[p] == static_cast<std::int64_t>(c)) ? 1 : 0;
    }
}

}  // namespace kandinsky
