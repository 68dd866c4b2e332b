#include <algorithm>
#include <cmath>
#include <cstring>
#include <kandinsky/reference.hpp>
#include <limits>

#include "calibrate/sample.hpp"
#include "core/base/random.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/data/dataset_access.hpp"
#include "core/team/team.hpp"
#include "curve/group_weights.hpp"
#include "score/group_identity.hpp"
#include "score/shortfall.hpp"
#include "score/visit.hpp"
#include "score/watched.hpp"

namespace kandinsky {

namespace {
constexpr std::uint64_t kLikeNew = 0x6C696B656E6577;  // purpose of the random numbers

/// [group] the identity of each group. Reads all images unless there are groups.
std::vector<std::uint64_t> identities(const Dataset& data, Progress& progress) {
    std::vector<std::uint64_t> content(data.grouped() ? 0 : data.images());
    if (!data.grouped())
        visit_blocks({.data = data, .progress = progress, .stage = "keys"}, {},
                     [&](std::size_t, std::size_t first, std::size_t last) {
                         for (std::size_t image = first; image < last; ++image)
                             content[image] = content_key(data, image);
                     });
    return group_identities(data, content);
}

/// The images of a random sample of the groups. Each group is taken with probability weight / bound, so the
/// sample is like groups of the new population if the weights are right. If no rank would take a group, one
/// of the heaviest is taken. Collective.
std::vector<std::uint32_t> like_new(const Dataset& data, const GroupWeights& weights, Progress& progress) {
    check_weights(data, weights);
    const std::vector<std::uint64_t> who = identities(data, progress), units = units_of_groups(data, weights);
    std::vector<bool> taken(units.size());
    for (std::size_t g = 0; g < units.size(); ++g)
        taken[g] = Random(who[g], kLikeNew).below(kGroupWeight) < units[g];
    Communicator& comm = team_of(data).comm;
    if (total(comm, static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), true))) == 0) {
        // Neither the ranks nor the order of the groups may decide: ties go to the largest identity.
        std::uint64_t heaviest[] = {0}, last[] = {0};
        for (const std::uint64_t one : units) heaviest[0] = std::max(heaviest[0], one);
        comm.max(heaviest);
        for (std::size_t g = 0; g < units.size(); ++g)
            if (units[g] == heaviest[0]) last[0] = std::max(last[0], who[g]);
        comm.max(last);
        for (std::size_t g = 0; g < units.size(); ++g)
            taken[g] = units[g] == heaviest[0] && who[g] == last[0];
    }
    std::vector<std::uint32_t> images;
    for (std::uint32_t image = 0; image < data.images(); ++image)
        if (taken[data.group_of(image)]) images.push_back(image);
    return images;
}

/// The measurements of every image: features and, with labels, for each class whether it is present and its
/// shortfalls.
struct Measured {
    std::size_t features, classes;
    std::vector<std::int64_t> values, present, short_by;

    Measured(const Reference& layout, std::size_t images)
        : features(layout.features()),
          classes(layout.labelled.size()),
          values(images * features),
          present(images * classes),
          short_by(present.size() * Reference::kShares.size()) {}

    void add(const Reference& layout, const Dataset& data, std::size_t image) {
        const std::size_t pixels = data.grid().pixels(), all = data.classes() * pixels;
        std::vector<float>& probs = thread_buffer<float, Reference>();
        probs.resize(all);
        data.read_probs(image, {0, pixels}, probs);
        watch_image(layout, data.grid(), probs, std::span(values).subspan(image * features, features));
        if (classes == 0) return;
        std::vector<std::uint8_t>& truth = thread_buffer<std::uint8_t, Reference>();
        truth.resize(all + pixels);
        data.read_truth(image, {0, pixels}, truth, std::span(truth).subspan(all));
        for (std::size_t i = 0; i < classes; ++i) {
            const std::size_t at = image * classes + i, from = layout.labelled[i] * pixels;
            present[at] = shortfalls(probs.data() + from, std::span(truth).subspan(from, pixels),
                                     std::span(short_by).subspan(at * Reference::kShares.size()));
        }
    }

    /// One row for each group: the means over its images, NaN for a class that it does not have.
    [[nodiscard]] std::vector<float> by_group(const Dataset& data) const {
        constexpr std::size_t kShares = Reference::kShares.size();
        const std::size_t width = features + classes * kShares;
        std::vector<std::int64_t> sums(data.groups() * width), images(data.groups() * (1 + classes));
        for (std::size_t image = 0; image < data.images(); ++image) {
            std::int64_t* const sum = sums.data() + data.group_of(image) * width;
            std::int64_t* const count = images.data() + data.group_of(image) * (1 + classes);
            ++count[0];
            for (std::size_t f = 0; f < features; ++f) sum[f] += values[image * features + f];
            for (std::size_t i = 0; i < classes; ++i) count[1 + i] += present[image * classes + i];
            for (std::size_t i = 0; i < classes * kShares; ++i)
                sum[features + i] += short_by[image * classes * kShares + i];
        }
        std::vector<float> out(sums.size());
        for (std::size_t group = 0; group < data.groups(); ++group)
            for (std::size_t column = 0; column < width; ++column) {
                const std::size_t i = group * width + column,
                                  counted = column < features ? 0 : 1 + (column - features) / kShares;
                const std::int64_t count = images[group * (1 + classes) + counted];
                out[i] = count > 0 ? watched_value(sums[i], count) : std::numeric_limits<float>::quiet_NaN();
            }
        return out;
    }
};

/// Keeps at most `most` values; each has the same probability of being kept. `number` selects the
/// stream of random numbers.
void thin(std::vector<float>& ascending, std::size_t most, std::size_t number) {
    Random random(0, 0x73686F7274, number);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ascending.size() && kept < most; ++i)
        if (random.below(ascending.size() - i) < most - kept) ascending[kept++] = ascending[i];
    ascending.resize(std::min(most, ascending.size()));
}
}  // namespace

Reference make_reference(const Calibrator& calibrator, const Dataset& all_data, Progress& progress,
                         const GroupWeights& weights) {
    std::optional<Dataset> chosen;
    if (!weights.none()) chosen = all_data.subset(like_new(all_data, weights, progress));
    const Dataset& data = chosen ? *chosen : all_data;
    Communicator& comm = team_of(data).comm;
    std::vector<std::uint64_t> counts(calibrator.strata());
    for (std::size_t i = 0; i < calibrator.counts.size(); ++i)
        counts[i / calibrator.grid.pixels()] += calibrator.counts[i];
    if (counts.size() != data.classes()) counts.clear();  // classes were pooled
    const bool exclusive = !data.overlapping() && data.options().logits != Logits::sigmoid;
    Reference out = watch_layout(data.grid(), data.classes(), exclusive, counts);
    if (data.labelled()) out.labelled = labelled_classes(out, data.classes());
    const std::size_t features = out.features(), most = most_units(out);
    std::optional<Dataset> sample;
    if (total(comm, data.groups()) > most)
        sample =
            data.subset(draw_sample(data, identities(data, progress), most, SamplePurpose::reference, 0, 0));
    const Dataset& seen = sample ? *sample : data;

    Measured measured(out, seen.images());
    visit_blocks({.data = seen, .progress = progress, .stage = "features"}, {},
                 [&](std::size_t, std::size_t first, std::size_t last) {
                     for (std::size_t image = first; image < last; ++image) measured.add(out, seen, image);
                 });
    const std::vector<float> own = measured.by_group(seen);
    std::vector<float> all;
    for (const std::vector<std::byte>& part : comm.gather(std::as_bytes(std::span(own)))) {
        const std::size_t before = all.size();
        all.resize(before + part.size() / sizeof(float));
        if (!part.empty()) std::memcpy(all.data() + before, part.data(), part.size());
    }
    const std::size_t width = features + out.labelled.size() * Reference::kShares.size();
    out.units = all.size() / width;
    for (std::size_t f = 0; f < width; ++f) {
        std::vector<float> column;
        for (std::size_t u = 0; u < out.units; ++u)
            if (const float value = all[u * width + f]; !std::isnan(value)) column.push_back(value);
        std::sort(column.begin(), column.end());
        if (f < features) {
            out.values.insert(out.values.end(), column.begin(), column.end());
        } else {
            thin(column, most_shortfalls(out.labelled.size()) / 2, f);
            out.shortfalls.push_back(std::move(column));
        }
    }
    return out;
}

}  // namespace kandinsky
