#include <kandinsky/monitor.hpp>

#include <algorithm>
#include <unordered_map>

#include "core/base/fail.hpp"
#include "monitor/look.hpp"
#include "monitor/state.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kChunk = 1024;  // images whose measurements are held at a time

void check_stream(const Grid& grid, std::size_t classes, bool grouped, const Dataset& data) {
    const std::string& name = data.options().probs_name;
    if (data.classes() != classes)
        fail(ErrorKind::data, "{} has {} classes, but the stream's calibrator was made for {}", name,
             data.classes(), classes);
    if (data.grid() != grid)
        fail(ErrorKind::data,
             "{} has images of {} x {} (height x width), but the stream's calibrator was made for {} x {}",
             name, data.grid().height, data.grid().width, grid.height, grid.width);
    if (grouped && !data.grouped())
        fail(ErrorKind::usage,
             "the calibration images had groups, so the stream is judged group by group: give `groups` (or "
             "`group_by` for files)");
    if (!grouped && data.grouped())
        fail(ErrorKind::usage,
             "the calibration images had no groups, so the stream is judged image by image: leave `groups` "
             "out, "
             "or calibrate with groups");
}

/// The images sorted by group. Groups are in the order of their first image, images in their own order.
std::vector<std::uint32_t> by_group(const Dataset& data) {
    std::unordered_map<std::uint32_t, std::uint32_t> place;
    std::vector<std::vector<std::uint32_t>> groups;
    for (std::uint32_t image = 0; image < data.images(); ++image) {
        const auto [at, fresh] =
            place.emplace(data.group_of(image), static_cast<std::uint32_t>(groups.size()));
        if (fresh) groups.emplace_back();
        groups[at->second].push_back(image);
    }
    std::vector<std::uint32_t> order;
    for (const std::vector<std::uint32_t>& group : groups)
        order.insert(order.end(), group.begin(), group.end());
    return order;
}

std::vector<ImageLook> look_at_all(const Dataset& data, const LookPlan& plan, Progress& progress) {
    std::vector<ImageLook> looks(data.images());
    try {
        visit_blocks({.data = data, .progress = progress, .stage = "looking"}, {},
                     [&](std::size_t, std::size_t first, std::size_t last) {
                         for (std::size_t i = first; i < last; ++i) looks[i] = look_at(data, i, plan);
                     });
    } catch (const Error& error) {
        // Threads may fail in any order, but the image that the error names must not depend on it.
        if (error.kind() == ErrorKind::data)
            for (std::size_t i = 0; i < data.images(); ++i) (void)look_at(data, i, plan);
        throw;
    }
    return looks;
}

void add(OpenGroup& to, const std::vector<std::int64_t>& numbers) {
    ++to.images;
    for (std::size_t i = 0; i < numbers.size(); ++i) to.sums[i] += numbers[i];
}
}  // namespace

Monitor::Monitor(const Calibrator& calibrator, const Reference& reference, const MonitorOptions& options)
    : state_(std::make_unique<State>(calibrator, reference, options)) {}
Monitor::~Monitor() = default;
Monitor::Monitor(Monitor&& other) noexcept = default;
Monitor& Monitor::operator=(Monitor&& other) noexcept = default;

const MonitorOptions& Monitor::options() const {
    return state_->options;
}

MonitorUpdate Monitor::update(const Dataset& images, Seen seen, Progress& progress) {
    check_stream(state_->grid, state_->all_classes, state_->grouped, images);
    auto next = std::make_unique<State>(*state_);  // the state changes only if nothing fails
    const LookPlan plan{*next->layout, *next->predictor, next->classes, kSetEvery};
    MonitorUpdate done;
    done.images = images.images();
    const std::uint64_t units = next->units, labelled = next->labelled_units;
    const std::vector<std::uint32_t> order = by_group(images);
    for (std::size_t begin = 0; begin < order.size(); begin += kChunk) {
        const std::size_t end = std::min(order.size(), begin + kChunk);
        const Dataset part = images.subset({order.begin() + static_cast<std::ptrdiff_t>(begin),
                                            order.begin() + static_cast<std::ptrdiff_t>(end)});
        const std::vector<ImageLook> looks = look_at_all(part, plan, progress);
        for (std::size_t i = 0; i < looks.size(); ++i) {
            const ImageLook& look = looks[i];
            const std::int64_t group = next->grouped ? part.group_id(i) : 0;
            const std::uint64_t group_key = mix(static_cast<std::uint64_t>(group));
            const bool again = next->seen.has(look.key);
            done.seen += again;
            if (!again || seen == Seen::count) {
                if (next->open.open && next->open.id != group) next->judge_outputs();
                if (next->grouped && !next->open.open && next->judged.has(group_key)) {
                    ++done.late;
                } else {
                    if (!next->open.open) next->open.begin(group, look.features.size());
                    add(next->open, look.features);
                    if (look.set_size == look.set_size) {
                        next->open_set_sizes += look.set_size;
                        ++next->open_sets;
                    }
                    ++next->images;
                    if (!next->grouped) next->judge_outputs();
                }
            }
            next->seen.add(look.key);
            if (look.labels.empty() || (seen == Seen::skip && next->seen_labels.has(look.key))) continue;
            next->seen_labels.add(look.key);
            if (next->open_labels.open && next->open_labels.id != group) next->judge_labels();
            if (next->grouped && !next->open_labels.open && next->judged_labels.has(group_key)) continue;
            if (!next->open_labels.open) next->open_labels.begin(group, look.labels.size());
            add(next->open_labels, look.labels);
            if (!next->grouped) next->judge_labels();
        }
    }
    done.units = next->units - units;
    done.labelled = next->labelled_units - labelled;
    state_ = std::move(next);
    return done;
}

void Monitor::complete() {
    state_->judge_outputs();
    state_->judge_labels();
}

}  // namespace kandinsky
