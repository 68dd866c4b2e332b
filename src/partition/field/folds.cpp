#include "partition/field/folds.hpp"

#include <algorithm>
#include <limits>

#include "core/random.hpp"

namespace kandinsky::partition::field {

Folds make_folds(const Dataset& data, const std::vector<std::uint64_t>& image_hash, std::size_t wanted,
                 FoldOrder order, std::uint64_t seed) {
    struct Ticket {
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
        std::uint32_t group = 0;
    };
    constexpr std::uint64_t kPurpose = 0x666F6C6473;  // "folds"
    const std::uint64_t salt = mix(mix(seed) ^ kPurpose);
    std::vector<Ticket> tickets(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image) {
        const std::uint32_t group = data.group_of(image);
        const std::uint64_t who =
            data.grouped() ? static_cast<std::uint64_t>(data.group_id(image)) : image_hash[image];
        const std::uint64_t number = order == FoldOrder::content ? mix(salt ^ mix(who)) : image;
        tickets[group] = {std::min(tickets[group].number, number), group};
    }
    // Equal numbers by content mean equal images: which of them goes into which fold makes no difference.
    std::stable_sort(tickets.begin(), tickets.end(),
                     [](const Ticket& a, const Ticket& b) { return a.number < b.number; });
    Folds folds;
    folds.count = std::min(wanted, tickets.size());
    std::vector<std::uint8_t> of_group(tickets.size());
    for (std::size_t i = 0; i < tickets.size(); ++i)
        of_group[tickets[i].group] = static_cast<std::uint8_t>(
            order == FoldOrder::content ? i % folds.count : i * folds.count / tickets.size());
    folds.of_image.resize(data.images());
    for (std::size_t image = 0; image < data.images(); ++image)
        folds.of_image[image] = of_group[data.group_of(image)];
    return folds;
}

}  // namespace kandinsky::partition::field
