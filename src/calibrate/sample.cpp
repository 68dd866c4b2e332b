#include "calibrate/sample.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"
#include "core/team/team.hpp"
#include "score/group_identity.hpp"

namespace kandinsky {

std::vector<std::uint32_t> draw_sample(const Dataset& data, const std::vector<std::uint64_t>& who,
                                       std::size_t count, SamplePurpose purpose, std::uint64_t seed,
                                       std::uint64_t draw) {
    Communicator& comm = team_of(data).comm;
    const std::uint64_t groups = total(comm, data.groups());
    if (count == 0 || count > groups)
        fail(ErrorKind::usage, "`sample` is {}, but there are {} {} to draw from", count, groups,
             data.grouped() ? "groups" : "images");
    const std::uint64_t salt = mix(mix(mix(seed) ^ static_cast<std::uint64_t>(purpose)) ^ draw);
    struct Ticket {
        std::uint64_t number;
        std::uint32_t group;
    };
    std::vector<Ticket> tickets;
    for (std::uint32_t group = 0; group < data.groups(); ++group)
        tickets.push_back({mix(salt ^ mix(who[group])), group});
    // Without groups, equal numbers mean equal images, so it does not matter which of them is taken.
    std::stable_sort(tickets.begin(), tickets.end(),
                     [](const Ticket& a, const Ticket& b) { return a.number < b.number; });
    // The number of the last group drawn, found by counting over the ranks. Of equal numbers, those on lower
    // ranks come first.
    std::vector<std::uint64_t> numbers;
    numbers.reserve(tickets.size());
    for (const Ticket& ticket : tickets) numbers.push_back(ticket.number);
    const std::uint64_t wanted[] = {count};
    const std::uint64_t last = select_ranks(comm, numbers, wanted).front();
    const auto own_below =
        static_cast<std::uint64_t>(std::lower_bound(numbers.begin(), numbers.end(), last) - numbers.begin());
    const auto own_equal =
        static_cast<std::uint64_t>(std::upper_bound(numbers.begin(), numbers.end(), last) - numbers.begin()) -
        own_below;
    const Gathered equal = gather_words(comm, std::span(&own_equal, 1));
    std::uint64_t left = count - total(comm, own_below);
    for (std::size_t r = 0; r < equal.first; ++r) left -= std::min(left, equal.values[r]);
    std::vector<bool> drawn(data.groups(), false);
    for (std::size_t i = 0; i < own_below + std::min(left, own_equal); ++i) drawn[tickets[i].group] = true;
    std::vector<std::uint32_t> images;
    for (std::size_t image = 0; image < data.images(); ++image)
        if (drawn[data.group_of(image)]) images.push_back(static_cast<std::uint32_t>(image));
    return images;
}

DataSplit split_groups(const Dataset& data, const CalibrateOptions& options, std::uint64_t groups,
                       Progress& progress) {
    const auto count = static_cast<std::size_t>(std::llround(options.split * static_cast<double>(groups)));
    std::vector<std::uint32_t> chosen;
    if (count > 0)
        chosen =
            draw_sample(data, group_identities(data, progress), count, SamplePurpose::split, options.seed, 0);
    DataSplit data_split;
    for (std::uint32_t image = 0, next = 0; image < data.images(); ++image)
        if (next < chosen.size() && chosen[next] == image)
            data_split.learn.push_back(chosen[next++]);
        else
            data_split.level.push_back(image);
    return data_split;
}

}  // namespace kandinsky
