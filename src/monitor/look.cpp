#include "monitor/look.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/random.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/data/dataset_access.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/hash.hpp"
#include "score/shortfall.hpp"
#include "score/watched.hpp"

namespace kandinsky {

namespace {
/// One class's probabilities in place if they are stored as contiguous float32 without logits; otherwise
/// null.
const float* floats_of(const Dataset& data, std::size_t image, std::size_t cls) {
    const ArrayView& view = stored_probs(data).view();
    if (view.dtype != DType::float32 || view.rank() != 4 || view.shape[1] != data.classes() ||
        view.strides[3] != 4 || view.strides[2] != 4 * static_cast<std::ptrdiff_t>(data.grid().width) ||
        data.options().logits != Logits::none)
        return nullptr;
    const std::byte* const plane =
        view.at(row_of(data, image)) + static_cast<std::ptrdiff_t>(cls) * view.strides[1];
    if (reinterpret_cast<std::uintptr_t>(plane) % alignof(float) != 0) return nullptr;
    return reinterpret_cast<const float*>(plane);
}

/// One class's probabilities: in place if they are float32, or converted from float16 into `memory`. Null if
/// they are stored in another form or a value is bad.
const float* plane_of(const Dataset& data, std::size_t image, std::size_t cls, std::vector<float>& memory) {
    if (const float* const plane = floats_of(data, image, cls)) return plane;
    const std::byte* const halves = halves_of(data, image, cls);
    memory.resize(data.grid().pixels());
    return halves != nullptr && unit_half_to_float(halves, memory.size(), memory.data()) ? memory.data()
                                                                                         : nullptr;
}

/// Reads only the watched planes. Returns false if that is impossible or a value is bad.
bool watch_planes(const Dataset& data, std::size_t image, const Reference& layout,
                  std::span<std::int64_t> out) {
    std::vector<float>& memory = thread_buffer<float, Reference>();
    for (std::size_t i = 0; i < layout.classes.size(); ++i) {
        const float* const plane = plane_of(data, image, layout.classes[i], memory);
        if (plane == nullptr ||
            !watch_class(layout, data.grid(), plane, out.subspan(i * layout.per_class(), layout.per_class())))
            return false;
    }
    return true;
}
}  // namespace

ImageLook look_at(const Dataset& data, std::size_t image, const LookPlan& plan) {
    const std::size_t pixels = data.grid().pixels(), all = data.classes() * pixels;
    std::vector<float>& probs = thread_buffer<float, ImageLook>();
    const auto read = [&] {
        probs.resize(all);
        data.read_probs(image, {0, pixels}, probs);
    };
    ImageLook out;
    out.features.resize(plan.layout.features());
    const bool in_place = watch_planes(data, image, plan.layout, out.features);
    if (!in_place) {
        read();  // reports the place of a bad value
        watch_image(plan.layout, data.grid(), probs, out.features);
    }
    out.key = hash_bytes(out.features.data(), out.features.size() * sizeof(std::int64_t), 0);

    std::vector<std::uint8_t>& truth = thread_buffer<std::uint8_t, ImageLook>();
    bool labelled = false;
    if (data.labelled()) {
        truth.resize(all + pixels);
        data.read_truth(image, {0, pixels}, truth, std::span(truth).subspan(all));
        labelled = std::any_of(truth.begin() + static_cast<std::ptrdiff_t>(all),
                               truth.begin() + static_cast<std::ptrdiff_t>(all + pixels),
                               [](std::uint8_t valid) { return valid != 0; });
    }
    if (!labelled && mix(out.key) % plan.set_every != 0) return out;
    if (in_place) read();
    std::vector<std::uint8_t>& sets = thread_buffer<std::uint8_t, LookPlan>();
    sets.resize(all);
    plan.predictor.sets(probs, sets);
    std::uint64_t members = 0;
    for (std::size_t c = 0; c < data.classes(); ++c) members += sum_bytes(sets.data() + c * pixels, pixels);
    out.set_size = static_cast<double>(members) / static_cast<double>(pixels);
    if (!labelled) return out;
    out.labels.resize(label_numbers(plan.layout, plan.classes.size()));
    for (std::size_t i = 0; i < plan.classes.size(); ++i) {
        const std::uint8_t* const has = truth.data() + plan.classes[i] * pixels;
        const std::uint8_t* const in = sets.data() + plan.classes[i] * pixels;
        std::int64_t missed = 0, there = 0;
        for (std::size_t p = 0; p < pixels; ++p) {
            there += has[p];
            missed += has[p] & (in[p] ^ 1);
        }
        out.labels[i] = missed;
        out.labels[plan.classes.size() + i] = there;
    }
    for (std::size_t i = 0; i < plan.layout.labelled.size(); ++i) {
        constexpr std::size_t kShares = Reference::kShares.size();
        const std::size_t at = plan.classes.size() * 2, from = plan.classes[i] * pixels;
        out.labels[at + i] =
            shortfalls(probs.data() + from, std::span(truth).subspan(from, pixels),
                       std::span(out.labels).subspan(at + plan.classes.size() + i * kShares, kShares));
    }
    return out;
}

}  // namespace kandinsky
