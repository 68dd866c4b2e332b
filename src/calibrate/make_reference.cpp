#include <algorithm>
#include <cstring>
#include <kandinsky/reference.hpp>

#include "core/data/dataset_access.hpp"
#include "calibrate/sample.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/team/team.hpp"
#include "score/group_identity.hpp"
#include "score/visit.hpp"
#include "score/watched.hpp"

namespace kandinsky {

namespace {
/// The images of a sample of groups.
std::vector<std::uint32_t> some_groups(const Dataset& data, std::size_t count, Progress& progress) {
    std::vector<std::uint64_t> content(data.grouped() ? 0 : data.images());
    if (!data.grouped())
        visit_blocks({.data = data, .progress = progress, .stage = "keys"}, {},
                     [&](std::size_t, std::size_t first, std::size_t last) {
                         for (std::size_t image = first; image < last; ++image)
                             content[image] = content_key(data, image);
                     });
    return draw_sample(data, group_identities(data, content), count, SamplePurpose::reference, 0, 0);
}
}  // namespace

Reference make_reference(const Calibrator& calibrator, const Dataset& data, Progress& progress) {
    Communicator& comm = team_of(data).comm;
    std::vector<std::uint64_t> counts(calibrator.strata());
    for (std::size_t i = 0; i < calibrator.counts.size(); ++i)
        counts[i / calibrator.grid.pixels()] += calibrator.counts[i];
    if (counts.size() != data.classes()) counts.clear();  // classes were pooled
    const bool exclusive = !data.overlapping() && data.options().logits != Logits::sigmoid;
    Reference out = watch_layout(data.grid(), data.classes(), exclusive, counts);
    const std::size_t features = out.features(), most = most_units(out), pixels = data.grid().pixels();
    std::optional<Dataset> sample;
    if (total(comm, data.groups()) > most) sample = data.subset(some_groups(data, most, progress));
    const Dataset& seen = sample ? *sample : data;

    std::vector<std::int64_t> of_image(seen.images() * features);
    visit_blocks({.data = seen, .progress = progress, .stage = "features"}, {},
                 [&](std::size_t, std::size_t first, std::size_t last) {
                     std::vector<float>& probs = thread_buffer<float, Reference>();
                     probs.resize(seen.classes() * pixels);
                     for (std::size_t image = first; image < last; ++image) {
                         seen.read_probs(image, {0, pixels}, probs);
                         watch_image(out, seen.grid(), probs,
                                     std::span(of_image).subspan(image * features, features));
                     }
                 });
    std::vector<std::int64_t> sums(seen.groups() * features), images(seen.groups());
    for (std::size_t image = 0; image < seen.images(); ++image) {
        const std::size_t group = seen.group_of(image);
        ++images[group];
        for (std::size_t f = 0; f < features; ++f)
            sums[group * features + f] += of_image[image * features + f];
    }
    std::vector<float> own(sums.size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = watched_value(sums[i], images[i / features]);
    std::vector<float> all;
    for (const std::vector<std::byte>& part : comm.gather(std::as_bytes(std::span(own)))) {
        const std::size_t before = all.size();
        all.resize(before + part.size() / sizeof(float));
        if (!part.empty()) std::memcpy(all.data() + before, part.data(), part.size());
    }
    out.units = all.size() / features;
    out.values.resize(all.size());
    for (std::size_t f = 0; f < features; ++f) {
        const auto first = out.values.begin() + static_cast<std::ptrdiff_t>(f * out.units);
        for (std::size_t u = 0; u < out.units; ++u)
            first[static_cast<std::ptrdiff_t>(u)] = all[u * features + f];
        std::sort(first, first + static_cast<std::ptrdiff_t>(out.units));
    }
    return out;
}

}  // namespace kandinsky
