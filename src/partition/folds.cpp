#include "partition/folds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace kandinsky::partition {

namespace {
/// The groups in an order that shows neither positions nor ids, or in that of the file.
std::vector<std::uint32_t> ranked_groups(const Dataset& data, const std::vector<std::uint64_t>& image_hash,
                                         FoldOrder order, std::uint64_t salt) {
    struct Ticket {
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
        std::uint32_t group = 0;
    };
    std::vector<Ticket> tickets(data.groups());
    for (std::size_t image = 0; image < data.images(); ++image) {
        const std::uint32_t group = data.group_of(image);
        const std::uint64_t who =
            data.grouped() ? static_cast<std::uint64_t>(data.group_id(image)) : image_hash[image];
        const std::uint64_t number = order == FoldOrder::content ? mix(salt ^ mix(who)) : image;
        tickets[group] = {std::min(tickets[group].number, number), group};
    }
    // Equal numbers by content mean equal images: which of them comes first makes no difference.
    std::stable_sort(tickets.begin(), tickets.end(),
                     [](const Ticket& a, const Ticket& b) { return a.number < b.number; });
    std::vector<std::uint32_t> groups;
    for (const Ticket& ticket : tickets) groups.push_back(ticket.group);
    return groups;
}
}  // namespace

Folds make_folds(const Dataset& data, const std::vector<std::uint64_t>& image_hash, std::size_t wanted,
                 FoldOrder order, std::uint64_t seed) {
    constexpr std::uint64_t kPurpose = 0x666F6C6473;  // "folds"
    const std::vector<std::uint32_t> groups =
        ranked_groups(data, image_hash, order, mix(mix(seed) ^ kPurpose));
    Folds folds;
    folds.count = std::min(wanted, groups.size());
    std::vector<std::uint8_t> of_group(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i)
        of_group[groups[i]] = static_cast<std::uint8_t>(
            order == FoldOrder::content ? i % folds.count : i * folds.count / groups.size());
    folds.of_image.resize(data.images());
    for (std::size_t image = 0; image < data.images(); ++image)
        folds.of_image[image] = of_group[data.group_of(image)];
    return folds;
}

}  // namespace kandinsky::partition
