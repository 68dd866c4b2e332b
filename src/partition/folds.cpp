#include "partition/folds.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"
#include "core/team/team.hpp"
#include "score/group_identity.hpp"

namespace kandinsky::partition {

namespace {
/// The fold of a place in an order of `groups`. Folds are consecutive runs whose sizes differ by at most one.
std::uint8_t run_of(std::size_t place, std::size_t folds, std::size_t groups) {
    return static_cast<std::uint8_t>(place * folds / groups);
}

/// A sort key for each group of this rank: its position in the file if folds are contiguous, otherwise a hash
/// of its id or content.
std::vector<std::uint64_t> tickets_of(const Dataset& data, const std::vector<std::uint64_t>& image_hash,
                                      FoldOrder order, std::uint64_t salt) {
    std::vector<std::uint64_t> tickets(data.groups(), std::numeric_limits<std::uint64_t>::max());
    if (order != FoldOrder::contiguous) {
        tickets = group_identities(data, image_hash);
        for (std::uint64_t& ticket : tickets) ticket = mix(salt ^ mix(ticket));
        return tickets;
    }
    for (std::size_t image = 0; image < data.images(); ++image) {
        std::uint64_t& ticket = tickets[data.group_of(image)];
        ticket = std::min(ticket, std::uint64_t{row_of(data, image)});
    }
    return tickets;
}

/// The place of each of this rank's tickets in the ascending order of all ranks' tickets. Equal tickets mean
/// images with equal content, so their order makes no difference.
std::vector<std::size_t> places_of(Communicator& comm, const std::vector<std::uint64_t>& own) {
    const Gathered all = gather_ranked(comm, own);
    std::vector<std::uint32_t> order(all.values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all.values[a] < all.values[b]; });
    std::vector<std::size_t> places(own.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        if (order[place] >= all.first && order[place] < all.first + own.size())
            places[order[place] - all.first] = place;
    return places;
}

/// The run of each ticket. Runs consist of neighbouring tickets and have nearly equal sizes; equal tickets
/// are in one run. Collective.
std::vector<std::uint8_t> runs_of(Communicator& comm, const std::vector<std::uint64_t>& tickets,
                                  std::uint64_t groups, std::uint64_t runs) {
    std::vector<std::uint64_t> sorted = tickets, wanted;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint64_t k = 1; k < runs; ++k) wanted.push_back((k * groups + runs - 1) / runs + 1);
    const std::vector<std::uint64_t> firsts = select_ranks(comm, sorted, wanted);
    std::vector<std::uint8_t> run;
    run.reserve(tickets.size());
    for (const std::uint64_t ticket : tickets)
        run.push_back(static_cast<std::uint8_t>(std::upper_bound(firsts.begin(), firsts.end(), ticket) -
                                                firsts.begin()));
    return run;
}
}  // namespace

Folds make_folds(const Dataset& data, const std::vector<std::uint64_t>& image_hash, std::size_t wanted,
                 FoldOrder order, std::uint64_t seed) {
    constexpr std::uint64_t kPurpose = 0x666F6C6473;  // "folds"
    const std::vector<std::uint64_t> tickets = tickets_of(data, image_hash, order, mix(mix(seed) ^ kPurpose));
    Communicator& comm = team_of(data).comm;
    const std::uint64_t groups = total(comm, tickets.size());
    Folds folds;
    folds.count = std::min<std::size_t>(wanted, groups);
    std::vector<std::uint8_t> of_group(tickets.size());
    if (order == FoldOrder::contiguous) {
        of_group = runs_of(comm, tickets, groups, folds.count);
    } else if (groups > kRankedGroups) {
        for (std::size_t g = 0; g < tickets.size(); ++g)
            of_group[g] = static_cast<std::uint8_t>(tickets[g] % folds.count);
    } else {
        const std::vector<std::size_t> places = places_of(comm, tickets);
        for (std::size_t image = 0; image < data.images(); ++image)
            folds.place.push_back(static_cast<std::uint32_t>(places[data.group_of(image)]));
        for (std::size_t g = 0; g < tickets.size(); ++g)
            of_group[g] = order == FoldOrder::content_runs
                              ? run_of(places[g], folds.count, groups)
                              : static_cast<std::uint8_t>(places[g] % folds.count);
    }
    folds.of_image.resize(data.images());
    for (std::size_t image = 0; image < data.images(); ++image)
        folds.of_image[image] = of_group[data.group_of(image)];
    return folds;
}

Folds folds_without(std::size_t wanted, std::size_t groups, std::uint32_t left_out) {
    const std::size_t others = groups - (left_out < groups ? 1 : 0);
    Folds out{.of_image = {}, .count = std::min(wanted, others)};
    for (std::uint32_t place = 0; place < groups; ++place)
        out.of_image.push_back(
            place == left_out || others == 0 ? 0 : run_of(place - (place > left_out), out.count, others));
    return out;
}

void check_leave_one_out(std::uint64_t groups) {
    if (groups > kRankedGroups)
        fail(ErrorKind::usage, "`promise loo` is for up to {} groups; use `promise split`", kRankedGroups);
}

}  // namespace kandinsky::partition
