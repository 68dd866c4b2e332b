#include "calibrate/sample.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/random.hpp"

namespace kandinsky {

std::vector<std::uint32_t> draw_sample(const Dataset& data, const std::vector<std::uint64_t>& image_hash,
                                       std::size_t count, SamplePurpose purpose, std::uint64_t seed,
                                       std::uint64_t draw) {
    if (count == 0 || count > data.groups())
        fail(ErrorKind::usage, "--sample is {}, but there are {} {} to draw from", count, data.groups(),
             data.grouped() ? "groups" : "images");
    const std::uint64_t salt = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(purpose)) ^ draw);
    struct Ticket {
        std::uint64_t number;
        std::uint32_t group;
    };
    std::vector<Ticket> tickets(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image) {
        const std::uint64_t who =
            data.grouped() ? static_cast<std::uint64_t>(data.group_id(image)) : image_hash[image];
        tickets[data.group_of(image)] = {mix(salt ^ mix(who)), data.group_of(image)};
    }
    // Equal numbers without groups mean equal images: which of them is taken makes no difference.
    std::stable_sort(tickets.begin(), tickets.end(),
                     [](const Ticket& a, const Ticket& b) { return a.number < b.number; });
    std::vector<bool> drawn(data.groups(), false);
    for (std::size_t i = 0; i < count; ++i) drawn[tickets[i].group] = true;
    std::vector<std::uint32_t> images;
    for (std::size_t image = 0; image < data.images(); ++image)
        if (drawn[data.group_of(image)]) images.push_back(static_cast<std::uint32_t>(image));
    return images;
}

}  // namespace kandinsky
