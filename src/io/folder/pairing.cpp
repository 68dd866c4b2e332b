#include "io/folder/pairing.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
using ByName = std::map<std::string, std::vector<std::size_t>>;

/// The longest ending that all names share and that begins with a separator; empty if it is a whole name.
std::string shared_ending(const std::vector<ItemInfo>& items) {
    if (items.size() < 2) return {};
    std::string ending = items.front().name;
    for (const ItemInfo& item : items) {
        const auto [a, b] =
            std::mismatch(ending.rbegin(), ending.rend(), item.name.rbegin(), item.name.rend());
        ending.erase(0, static_cast<std::size_t>(ending.rend() - a));
    }
    const std::size_t start = ending.find_first_of("_.-");
    if (start == std::string::npos) return {};
    ending.erase(0, start);
    const bool whole = std::any_of(items.begin(), items.end(),
                                   [&](const ItemInfo& item) { return item.name.size() == ending.size(); });
    return whole ? std::string() : ending;
}

ByName by_name(const std::vector<ItemInfo>& items, std::size_t cut) {
    ByName out;
    for (std::size_t i = 0; i < items.size(); ++i)
        out[items[i].name.substr(0, items[i].name.size() - cut)].push_back(i);
    return out;
}

bool meet(const ByName& a, const ByName& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& entry) { return b.contains(entry.first); });
}

/// Whether the name of some probabilities begins with the name of a label file and ends in a digit, as with
/// one file for each class.
bool look_like_class_files(const ByName& probs, const ByName& labels) {
    return std::any_of(labels.begin(), labels.end(), [&](const auto& entry) {
        const auto next = probs.lower_bound(entry.first);
        return next != probs.end() && next->first.starts_with(entry.first) &&
               std::isdigit(static_cast<unsigned char>(next->first.back())) != 0;
    });
}

std::string extent_text(const ItemInfo& info) {
    return info.volume
               ? fmt::format("{} x {} x {} (slices x height x width)", info.slices, info.height, info.width)
               : fmt::format("{} x {} (height x width)", info.height, info.width);
}

/// The items that occur once and can be used; adds the others to `bad`.
std::map<std::string, std::size_t> usable(const ImageSource& source, const ByName& names,
                                          std::vector<BadFile>& bad) {
    std::map<std::string, std::size_t> out;
    for (const auto& [name, items] : names) {
        const ItemInfo& info = source.items()[items.front()];
        if (items.size() > 1)
            bad.push_back({info.path, fmt::format("occurs {} times, also as {}", items.size(),
                                                  source.items()[items[1]].path)});
        else if (!info.problem.empty())
            bad.push_back({info.path, info.problem});
        else
            out.emplace(name, items.front());
    }
    return out;
}

/// Removes items whose number of classes differs from the most frequent number; ties go to the smaller one.
void agree_on_planes(const ImageSource& source, std::map<std::string, std::size_t>& items,
                     std::vector<BadFile>& bad) {
    std::map<std::size_t, std::size_t> votes;
    for (const auto& [name, i] : items) ++votes[source.items()[i].planes];
    if (votes.size() < 2) return;
    const std::size_t planes = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                                   return a.second < b.second;
                               })->first;
    std::erase_if(items, [&](const auto& item) {
        const ItemInfo& info = source.items()[item.second];
        if (info.planes != planes)
            bad.push_back(
                {info.path, fmt::format("has {} classes, but others have {}", info.planes, planes)});
        return info.planes != planes;
    });
}
}  // namespace

Pairing pair_items(const ImageSource* probs, const ImageSource* labels) {
    Pairing out;
    const ImageSource* const first = probs != nullptr ? probs : labels;
    const ImageSource* const second = probs != nullptr ? labels : nullptr;
    out.files = first->items().size() + (second != nullptr ? second->items().size() : 0);
    ByName a = by_name(first->items(), 0);
    if (second == nullptr) {
        auto alone = usable(*first, a, out.bad);
        agree_on_planes(*first, alone, out.bad);
        for (const auto& [name, i] : alone) out.pairs.push_back({name, i, i});
        return out;
    }
    ByName b = by_name(second->items(), 0);
    if (first->items().size() == 1 && second->items().size() == 1) {
        b = {{a.begin()->first, {0}}};
    } else if (!meet(a, b)) {
        const std::string end_a = shared_ending(first->items()), end_b = shared_ending(second->items());
        for (const auto& [cut_a, cut_b] :
             {std::pair(end_a, std::string()), std::pair(std::string(), end_b), std::pair(end_a, end_b)}) {
            ByName short_a = by_name(first->items(), cut_a.size());
            ByName short_b = by_name(second->items(), cut_b.size());
            if (!meet(short_a, short_b)) continue;
            out.remark = fmt::format("files are paired without the ending{} {}",
                                     cut_a.empty() || cut_b.empty() ? "" : "s",
                                     cut_a.empty()   ? fmt::format("'{}' of the labels", cut_b)
                                     : cut_b.empty() ? fmt::format("'{}' of the probabilities", cut_a)
                                                     : fmt::format("'{}' and '{}'", cut_a, cut_b));
            a = std::move(short_a);
            b = std::move(short_b);
            break;
        }
        if (!meet(a, b) && look_like_class_files(a, b))
            out.advice = "if there is one file for each class, use `class_files`";
    }
    std::vector<BadFile> bad_a, bad_b;
    auto good_a = usable(*first, a, bad_a), good_b = usable(*second, b, bad_b);
    agree_on_planes(*first, good_a, bad_a);
    agree_on_planes(*second, good_b, bad_b);
    for (const auto& [name, i] : good_a) {
        const ItemInfo& info = first->items()[i];
        const auto partner = good_b.find(name);
        if (partner == good_b.end()) {
            if (!b.contains(name)) bad_a.push_back({info.path, "has no label file of that name"});
            continue;
        }
        const ItemInfo& other = second->items()[partner->second];
        if (info.slices != other.slices || info.height != other.height || info.width != other.width)
            bad_a.push_back({info.path, fmt::format("is {}, but its label {} is {}", extent_text(info),
                                                    other.path, extent_text(other))});
        else
            out.pairs.push_back({name, i, partner->second});
    }
    for (const auto& [name, i] : good_b)
        if (!a.contains(name) && !second->catalogue())
            bad_b.push_back({second->items()[i].path, "has no probabilities of that name"});
    out.bad = std::move(bad_a);
    out.bad.insert(out.bad.end(), bad_b.begin(), bad_b.end());
    return out;
}

std::string list_of(const std::vector<BadFile>& bad, std::size_t files) {
    constexpr std::size_t kShown = 10;
    std::string text = fmt::format("{} of {} files cannot be used: ", bad.size(), files);
    for (std::size_t i = 0; i < std::min(bad.size(), kShown); ++i)
        text += fmt::format("{}{} {}", i == 0 ? "" : "; ", bad[i].path, bad[i].problem);
    if (bad.size() > kShown) text += fmt::format("; and {} more", bad.size() - kShown);
    return text;
}

void refuse_bad(const std::vector<BadFile>& bad, std::size_t files, BadFiles use) {
    if (!bad.empty() && use != BadFiles::skip)
        fail(ErrorKind::data, "{}; correct them{}", list_of(bad, files),
             use == BadFiles::offer ? ", or continue without them: `skip_bad`" : "");
}

}  // namespace kandinsky
