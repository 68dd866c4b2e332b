#include "monitor/look.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/random.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/kernel/hash.hpp"
#include "score/watched.hpp"

namespace kandinsky {

ImageLook look_at(const Dataset& data, std::size_t image, const LookPlan& plan) {
    const std::size_t pixels = data.grid().pixels(), all = data.classes() * pixels;
    std::vector<float>& probs = thread_buffer<float, ImageLook>();
    probs.resize(all);
    data.read_probs(image, {0, pixels}, probs);
    ImageLook out;
    out.features.resize(plan.layout.features());
    watch_image(plan.layout, data.grid(), probs, out.features);
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
    std::vector<std::uint8_t>& sets = thread_buffer<std::uint8_t, LookPlan>();
    sets.resize(all);
    plan.predictor.sets(probs, sets);
    std::uint64_t members = 0;
    for (std::size_t c = 0; c < data.classes(); ++c) members += sum_bytes(sets.data() + c * pixels, pixels);
    out.set_size = static_cast<double>(members) / static_cast<double>(pixels);
    if (!labelled) return out;
    out.labels.resize(2 * plan.classes.size());
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
    return out;
}

}  // namespace kandinsky
