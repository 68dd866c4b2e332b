#include <algorithm>
#include <cmath>
#include <cstring>
#include <kandinsky/dataset.hpp>
#include <limits>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/pages.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/data/array_access.hpp"
#include "core/data/dataset_access.hpp"
#include "core/data/elements.hpp"
#include "core/kernel/compare_kernels.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/hash.hpp"

namespace kandinsky {

Dataset::Dataset(Array probs, Array labels, Array groups, DatasetOptions options)
    : probs_(std::move(probs)),
      labels_(std::move(labels)),
      groups_(std::move(groups)),
      options_(std::move(options)) {
    check_shapes();
    rows_.resize(probs_.shape()[0]);
    std::iota(rows_.begin(), rows_.end(), 0u);
    if (!groups_.empty()) group_ids_ = groups_.to_vector<std::int64_t>();
    number_groups();
    shared_ =
        std::make_shared<const Shared>(Shared{.team = nullptr,
                                              .content_keys = std::shared_ptr<std::atomic<std::uint64_t>[]>(
                                                  new std::atomic<std::uint64_t>[rows_.size()]()),
                                              .store = std::make_shared<ImageStore>(rows_.size())});
}

Dataset::Dataset(Array probs, DatasetOptions options)
    : Dataset(std::move(probs), {}, {}, std::move(options)) {}

void Dataset::check_shapes() {
    const auto& shape = probs_.shape();
    const auto& name = options_.probs_name;
    if (shape.size() != 4)
        fail(ErrorKind::data,
             "{}: probabilities have shape {}, but must have four axes [images, classes, height, width]",
             name, probs_.view().shape_text());
    const DType type = probs_.dtype();
    if (!is_floating(type) && type != DType::uint8)
        fail(ErrorKind::data,
             "{}: probabilities are {}, but must be float16, float32, float64 or uint8 (p * 255)", name,
             name_of(type));
    if (options_.logits != Logits::none && type == DType::uint8)
        fail(ErrorKind::usage, "{}: `logits` needs floating-point values, but these are uint8", name);
    if (options_.logits == Logits::softmax && shape[1] == 1)
        fail(ErrorKind::usage, "{}: softmax over a single class is always 1; use `logits sigmoid`", name);
    if (shape[0] == 0)
        fail(ErrorKind::data, "{}: there is no image (shape {})", name, probs_.view().shape_text());
    if (shape[1] == 0 || shape[2] == 0 || shape[3] == 0)
        fail(ErrorKind::data, "{}: an axis is empty (shape {})", name, probs_.view().shape_text());
    constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() / 4;
    if (shape[0] > kMost || shape[1] > 4096 || shape[2] > kMost || shape[3] > kMost ||
        shape[2] * shape[3] > kMost)
        fail(ErrorKind::data, "{}: shape {} is too large", name, probs_.view().shape_text());
    grid_ = {static_cast<std::uint32_t>(shape[2]), static_cast<std::uint32_t>(shape[3])};
    planes_ = shape[1];
    classes_ = planes_ == 1 ? 2 : planes_;

    if (!labels_.empty()) {
        const auto& truth = labels_.shape();
        const auto& label_name = options_.labels_name;
        if (truth.size() != 3 && truth.size() != 4)
            fail(ErrorKind::data,
                 "{}: labels have shape {}, but must be [images, height, width], or masks [images, classes, "
                 "height, width]",
                 label_name, labels_.view().shape_text());
        if (!is_integer(labels_.dtype()))
            fail(ErrorKind::data, "{}: labels are {}, but must be integers", label_name,
                 name_of(labels_.dtype()));
        overlapping_ = truth.size() == 4;
        if (truth[0] != shape[0])
            fail(ErrorKind::data, "{} has {} images, but {} has {}", label_name, truth[0], name, shape[0]);
        if (!overlapping_ && classes_ > 255 && options_.ignore == DatasetOptions().ignore)
            fail(ErrorKind::usage,
                 "{} has {} classes, and 255 is one of them, but `ignore 255`, the default, ignores it; use "
                 "`ignore none`, or give the labels to ignore",
                 name, classes_);
        if (overlapping_ && truth[1] != planes_)
            fail(ErrorKind::data, "{} has masks of {} classes, but {} has {} classes", label_name, truth[1],
                 name, planes_);
        if (truth[truth.size() - 2] != shape[2] || truth.back() != shape[3])
            fail(ErrorKind::data, "{} has images of {} x {} (height x width), but {} has {} x {}", label_name,
                 truth[truth.size() - 2], truth.back(), name, shape[2], shape[3]);
    }
    if (!groups_.empty()) {
        if (groups_.shape().size() != 1 || !is_integer(groups_.dtype()))
            fail(ErrorKind::data, "{}: groups are {} {}, but must be one integer for each image",
                 options_.groups_name, name_of(groups_.dtype()), groups_.view().shape_text());
        if (groups_.shape()[0] != shape[0])
            fail(ErrorKind::data, "{} has {} groups, but {} has {} images", options_.groups_name,
                 groups_.shape()[0], name, shape[0]);
    }
}

void Dataset::number_groups() {
    group_index_.resize(rows_.size());
    if (groups_.empty()) {
        std::iota(group_index_.begin(), group_index_.end(), 0u);
        group_count_ = rows_.size();
        return;
    }
    std::vector<std::int64_t> ids;
    for (const std::uint32_t row : rows_) ids.push_back(group_ids_[row]);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (std::size_t i = 0; i < rows_.size(); ++i)
        group_index_[i] = static_cast<std::uint32_t>(
            std::lower_bound(ids.begin(), ids.end(), group_ids_[rows_[i]]) - ids.begin());
    group_count_ = ids.size();
}

std::int64_t Dataset::group_id(std::size_t image) const {
    return groups_.empty() ? rows_[image] : group_ids_[rows_[image]];
}

std::uint64_t content_key(const Dataset& data, std::size_t image) {
    std::atomic<std::uint64_t>& kept = DatasetAccess::shared(data).content_keys[row_of(data, image)];
    std::uint64_t key = kept.load(std::memory_order_relaxed);
    if (key != 0) return key;
    // Two threads may both compute it, with the same result.
    std::vector<float>& probs = thread_buffer<float, struct ContentKey>();
    const std::size_t classes = data.classes(), pixels = data.grid().pixels();
    probs.resize(classes * kHashStretch);
    for (std::size_t begin = 0; begin < pixels; begin += kHashStretch) {
        const PixelRange range{begin, std::min(pixels, begin + kHashStretch)};
        data.read_probs(image, range, probs);
        for (std::size_t c = 0; c < classes; ++c)
            key += stretch_key(c, begin / kHashStretch, probs.data() + c * range.size(), range.size());
    }
    kept.store(key, std::memory_order_relaxed);
    return key;
}

Dataset Dataset::subset(const std::vector<std::uint32_t>& images) const {
    Dataset part = *this;
    part.rows_.clear();
    for (const std::uint32_t image : images) part.rows_.push_back(rows_.at(image));
    part.number_groups();
    return part;
}

Dataset DatasetAccess::of_team(const Dataset& data, std::shared_ptr<const Team> team) {
    Dataset part = data;
    Dataset::Shared shared = *data.shared_;
    shared.team = std::move(team);
    part.shared_ = std::make_shared<const Dataset::Shared>(std::move(shared));
    return part;
}

Dataset dealt(const Dataset& data, std::shared_ptr<const Team> team) {
    const std::size_t ranks = team->comm.size(), all = data.images();
    std::vector<std::uint64_t> before(data.groups() + 1);
    for (std::size_t image = 0; image < all; ++image) ++before[data.group_of(image) + 1];
    for (std::size_t g = 0; g < data.groups(); ++g) before[g + 1] += before[g];
    std::vector<std::uint32_t> own;
    for (std::uint32_t image = 0; image < all; ++image) {
        const std::uint32_t g = data.group_of(image);
        if (owner_of(before[g], before[g + 1], all, ranks) == team->comm.rank()) own.push_back(image);
    }
    return as_rank_part(data.subset(own), std::move(team));
}

const Team& team_of(const Dataset& data) {
    static const Team nobody_else{.comm = alone()};
    const std::shared_ptr<const Team>& team = DatasetAccess::shared(data).team;
    return team ? *team : nobody_else;
}

namespace {
/// Calls hint(begin, bytes) for the memory of the listed rows; consecutive rows are one call.
template <class Hint>
void for_each_stretch(const Array& array, const std::vector<std::uint32_t>& rows, std::size_t first,
                      std::size_t last, Hint&& hint) {
    // Small files stay in memory.
    constexpr std::size_t kSmall = std::size_t{256} << 20;
    const ArrayView& view = array.view();
    const bool small = view.size() * size_of(view.dtype) < kSmall;
    if (!ArrayAccess::in_file(array) || !view.is_c_contiguous() || small) return;
    const std::size_t bytes = view.size() / view.shape[0] * size_of(view.dtype);
    for (std::size_t image = first; image < last;) {
        std::size_t end = image + 1;
        while (end < last && rows[end] == rows[end - 1] + 1) ++end;
        hint(view.at(rows[image]), (end - image) * bytes);
        image = end;
    }
}
}  // namespace

void Dataset::release(std::size_t first, std::size_t last) const {
    for (std::size_t image = first; image < std::min(last, images()); ++image)
        shared_->store->release(rows_[image]);
    for_each_stretch(probs_, rows_, first, std::min(last, images()), drop_pages);
    if (labelled()) for_each_stretch(labels_, rows_, first, std::min(last, images()), drop_pages);
}

void Dataset::prefetch(std::size_t first, std::size_t last) const {
    for_each_stretch(probs_, rows_, first, std::min(last, images()), fetch_pages);
    if (labelled()) for_each_stretch(labels_, rows_, first, std::min(last, images()), fetch_pages);
}

namespace {
constexpr std::size_t kLabelChunk = 512;

/// Calls run(source, step, count, offset) for each run of equally spaced elements in a plane's pixel range.
template <class Run>
void for_each_run(const ArrayView& view, const std::byte* plane, PixelRange range, std::size_t width,
                  Run&& run) {
    const std::ptrdiff_t row_step = view.strides[view.rank() - 2], step = view.strides[view.rank() - 1];
    if (row_step == step * static_cast<std::ptrdiff_t>(width)) {
        run(plane + static_cast<std::ptrdiff_t>(range.begin) * step, step, range.size(), std::size_t{0});
        return;
    }
    for (std::size_t p = range.begin; p < range.end;) {
        const std::size_t row = p / width, column = p % width,
                          count = std::min(width - column, range.end - p);
        run(plane + static_cast<std::ptrdiff_t>(row) * row_step + static_cast<std::ptrdiff_t>(column) * step,
            step, count, p - range.begin);
        p += count;
    }
}

float sigmoid(float x) {
    return 1.0f / (1.0f + std::exp(-x));
}

void check_room(const char* call, std::size_t given, std::size_t needed) {
    if (given < needed)
        fail(ErrorKind::usage, "[{}] there is room for {} values, but {} are needed", call, given, needed);
}

void softmax(float* values, std::size_t classes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        float top = values[i];
        for (std::size_t c = 1; c < classes; ++c) top = std::max(top, values[c * count + i]);
        double sum = 0;
        for (std::size_t c = 0; c < classes; ++c)
            sum += std::exp(static_cast<double>(values[c * count + i] - top));
        for (std::size_t c = 0; c < classes; ++c) {
            float& value = values[c * count + i];
            value = static_cast<float>(std::exp(static_cast<double>(value - top)) / sum);
        }
    }
}
}  // namespace

const std::byte* halves_of(const Dataset& data, std::size_t image, std::size_t cls) {
    const ArrayView& view = stored_probs(data).view();
    if (view.dtype != DType::float16 || view.strides[3] != 2 ||
        view.strides[2] != 2 * static_cast<std::ptrdiff_t>(data.grid().width) ||
        view.shape[1] != data.classes() || data.options().logits != Logits::none)
        return nullptr;
    return view.at(row_of(data, image)) + static_cast<std::ptrdiff_t>(cls) * view.strides[1];
}

void Dataset::read_probs(std::size_t image, PixelRange range, std::span<float> out) const {
    const ArrayView& view = probs_.view();
    const std::size_t count = range.size();
    check_room("read_probs", out.size(), classes_ * count);
    for (std::size_t plane = 0; plane < planes_; ++plane) {
        const std::byte* source =
            view.at(rows_[image]) + static_cast<std::ptrdiff_t>(plane) * view.strides[1];
        float* const target = out.data() + (planes_ == 1 ? 1 : plane) * count;
        if (const std::byte* const from = halves_of(*this, image, plane);
            from != nullptr && unit_half_to_float(from + 2 * range.begin, count, target))
            continue;
        for_each_run(view, source, range, grid_.width,
                     [&](const std::byte* from, std::ptrdiff_t step, std::size_t n, std::size_t offset) {
                         float* const to = target + offset;
                         if (view.dtype == DType::float16 && step == 2)
                             half_to_float(from, n, to);
                         else
                             convert_elements(from, view.dtype, step, n, to);
                         if (view.dtype == DType::uint8)
                             for (std::size_t i = 0; i < n; ++i) to[i] /= 255.0f;
                     });
        if (options_.logits == Logits::none) {
            if (!all_in_unit_interval(target, count))
                for (std::size_t i = 0; i < count; ++i) {
                    if (!(target[i] >= 0.0f && target[i] <= 1.0f))
                        refuse_probability(image, plane, range.begin + i, target[i]);
                    target[i] += 0.0f;  // -0 becomes +0: hashes use the bits
                }
        } else {
            for (std::size_t i = 0; i < count; ++i)
                if (std::isnan(target[i]) || (options_.logits == Logits::softmax && std::isinf(target[i])))
                    refuse_probability(image, plane, range.begin + i, target[i]);
            if (options_.logits == Logits::sigmoid)
                for (std::size_t i = 0; i < count; ++i) target[i] = sigmoid(target[i]);
        }
    }
    if (options_.logits == Logits::softmax) softmax(out.data(), classes_, count);
    if (planes_ == 1)
        for (std::size_t i = 0; i < count; ++i) out[i] = 1.0f - out[count + i];
}

std::vector<float> Dataset::probs(std::size_t image) const {
    std::vector<float> out(classes_ * grid_.pixels());
    read_probs(image, {0, grid_.pixels()}, out);
    return out;
}

Truth Dataset::truth(std::size_t image) const {
    Truth out{.member = std::vector<std::uint8_t>(classes_ * grid_.pixels()),
              .valid = std::vector<std::uint8_t>(grid_.pixels())};
    read_truth(image, {0, grid_.pixels()}, out.member, out.valid);
    return out;
}

void Dataset::read_truth(std::size_t image, PixelRange range, std::span<std::uint8_t> members,
                         std::span<std::uint8_t> valids) const {
    if (labels_.empty()) fail(ErrorKind::usage, "{}: there are no labels to read", options_.probs_name);
    const ArrayView& view = labels_.view();
    const std::size_t count = range.size();
    check_room("read_truth", members.size(), classes_ * count);
    check_room("read_truth", valids.size(), count);
    std::uint8_t *const member = members.data(), *const valid = valids.data();
    if (overlapping_) {
        std::fill(valid, valid + count, std::uint8_t{1});
        for (std::size_t plane = 0; plane < planes_; ++plane) {
            const std::byte* source =
                view.at(rows_[image]) + static_cast<std::ptrdiff_t>(plane) * view.strides[1];
            std::uint8_t* const target = member + (planes_ == 1 ? 1 : plane) * count;
            for_each_run(view, source, range, grid_.width,
                         [&](const std::byte* from, std::ptrdiff_t step, std::size_t n, std::size_t offset) {
                             with_type(view.dtype, [&](auto tag) {
                                 using T = decltype(tag);
                                 for (std::size_t i = 0; i < n; ++i) {
                                     T value;
                                     std::memcpy(&value, from + static_cast<std::ptrdiff_t>(i) * step,
                                                 sizeof(T));
                                     if (value != T{0} && value != T{1})
                                         refuse_label(image, plane, range.begin + offset + i,
                                                      static_cast<std::int64_t>(value));
                                     target[offset + i] = value != T{0};
                                 }
                             });
                         });
        }
        if (planes_ == 1)
            for (std::size_t i = 0; i < count; ++i) member[i] = member[count + i] == 0;
        return;
    }
    // Labels become one 0/1 plane per class, a few hundred labels at a time. Contiguous bytes are compared
    // with the classes directly; other types and strides are first converted to 16-bit class numbers.
    for_each_run(view, view.at(rows_[image]), range, grid_.width,
                 [&](const std::byte* from, std::ptrdiff_t step, std::size_t n, std::size_t offset) {
                     const bool bytes = view.dtype == DType::uint8 && step == 1 && classes_ <= 256;
                     for (std::size_t begin = 0; begin < n; begin += kLabelChunk) {
                         const std::size_t length = std::min(kLabelChunk, n - begin), at = offset + begin;
                         const PixelRange part{range.begin + at, range.begin + at + length};
                         if (bytes)
                             split_byte_labels(image, part,
                                               reinterpret_cast<const std::uint8_t*>(from) + begin,
                                               member + at, count, valid + at);
                         else
                             split_labels(image, part, from + static_cast<std::ptrdiff_t>(begin) * step, step,
                                          member + at, count, valid + at);
                     }
                 });
}

void Dataset::split_byte_labels(std::size_t image, PixelRange part, const std::uint8_t* labels,
                                std::uint8_t* member, std::size_t plane, std::uint8_t* valid) const {
    const std::size_t n = part.size();
    // Read once into a variable, because another program may be writing to the file.
    std::uint8_t read[kLabelChunk];
    std::memcpy(read, labels, n);
    std::uint8_t ignored[256];
    std::size_t ignoring = 0;
    for (const std::int64_t label : options_.ignore)
        if (label >= 0 && label <= 255 && std::find(ignored, ignored + ignoring, label) == ignored + ignoring)
            ignored[ignoring++] = static_cast<std::uint8_t>(label);
    if (split_bytes(read, n, {ignored, ignoring}, classes_, member, plane, valid)) return;
    for (std::size_t i = 0; i < n; ++i)
        if (valid[i] != 0 && read[i] >= classes_) refuse_label(image, planes_, part.begin + i, read[i]);
}

void Dataset::split_labels(std::size_t image, PixelRange part, const std::byte* labels, std::ptrdiff_t step,
                           std::uint8_t* member, std::size_t plane, std::uint8_t* valid) const {
    constexpr std::uint16_t kIgnored = 0xFFFF;
    const std::size_t n = part.size();
    std::uint16_t numbers[kLabelChunk];
    with_type(labels_.dtype(), [&](auto tag) {
        using T = decltype(tag);
        for (std::size_t i = 0; i < n; ++i) {
            T stored;
            std::memcpy(&stored, labels + static_cast<std::ptrdiff_t>(i) * step, sizeof(T));
            // A uint64 label from 2^63 on becomes negative. The numbers of --ignore are signed, so each label
            // can be ignored, by the number that messages print.
            const auto label = static_cast<std::int64_t>(stored);
            const bool ignored =
                std::find(options_.ignore.begin(), options_.ignore.end(), label) != options_.ignore.end();
            if (!ignored && (label < 0 || label >= static_cast<std::int64_t>(classes_)))
                refuse_label(image, planes_, part.begin + i, label);
            numbers[i] = ignored ? kIgnored : static_cast<std::uint16_t>(label);
        }
    });
    for (std::size_t i = 0; i < n; ++i) valid[i] = numbers[i] != kIgnored;
    for (std::size_t c = 0; c < classes_; ++c) {
        std::uint8_t* const has = member + c * plane;
        const auto wanted = static_cast<std::uint16_t>(c);
        for (std::size_t i = 0; i < n; ++i) has[i] = numbers[i] == wanted;
    }
}

void Dataset::refuse_probability(std::size_t image, std::size_t plane, std::size_t pixel,
                                 double value) const {
    const std::size_t row = pixel / grid_.width, column = pixel % grid_.width;
    if (options_.logits != Logits::none)
        fail(ErrorKind::data,
             "{}: logit {} at image {}, class {}, row {}, column {}; correct the model's output",
             options_.probs_name, value, rows_[image] + options_.first_image, plane, row, column);
    fail(ErrorKind::data, "{}: probability {} at image {}, class {}, row {}, column {} is not in [0, 1]; {}",
         options_.probs_name, value, rows_[image] + options_.first_image, plane, row, column,
         std::isnan(value) ? "correct the model's output"
                           : "if these are logits, use `logits sigmoid` or `logits softmax`");
}

void Dataset::refuse_label(std::size_t image, std::size_t plane, std::size_t pixel,
                           std::int64_t value) const {
    const std::size_t row = pixel / grid_.width, column = pixel % grid_.width;
    if (overlapping_)
        fail(ErrorKind::data,
             "{}: mask value {} at image {}, class {}, row {}, column {} is neither 0 nor 1{}",
             options_.labels_name, value, rows_[image] + options_.first_image, plane, row, column,
             value == 255 ? "; divide masks of 0 and 255 by 255" : "");
    fail(ErrorKind::data,
         "{}: label {} at image {}, row {}, column {} is not one of the {} classes (0 to {}) nor ignored; "
         "add it to `ignore` if it marks no class{}",
         options_.labels_name, value, rows_[image] + options_.first_image, row, column, classes_,
         classes_ - 1, value == 255 ? "; if these are masks of 0 and 255, divide them by 255" : "");
}

}  // namespace kandinsky
