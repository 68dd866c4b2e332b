#include "io/folder/folder_cases.hpp"

#include <algorithm>
#include <map>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/folder/label_slices.hpp"
#include "io/folder/pattern.hpp"

namespace kandinsky {

namespace {
/// Calls visit(slice, labels) for every slice of a file of labels.
template <class Visit>
void for_each_slice(const ItemInfo& info, Array values, const FolderOptions& options, std::size_t classes,
                    Visit&& visit) {
    LabelRules rules;
    rules.fit.grid = info.grid();
    rules.ignore = options.ignore;
    rules.classes = classes;
    rules.wide = true;
    const LabelSlices reader(info, std::move(values), rules);
    std::vector<std::int32_t> labels(info.grid().pixels() * std::max<std::size_t>(info.planes, 1));
    for (std::size_t s = 0; s < info.slices; ++s) {
        (void)reader.look(s);
        reader.read(s, reinterpret_cast<std::byte*>(labels.data()));
        visit(s, labels);
    }
}

bool ignored(const FolderOptions& options, std::int32_t label) {
    return std::find(options.ignore.begin(), options.ignore.end(), label) != options.ignore.end();
}

/// The largest label of all files, ignored ones left out. Throws a data error if it is too large for a class.
std::int32_t largest_label(const ImageSource& source, const FolderOptions& options) {
    constexpr std::int32_t kLargest = 4095;  // as for arrays of probabilities
    std::vector<std::int32_t> most(source.items().size());
    parallel_for(most.size(), [&](std::size_t i) {
        for_each_slice(source.items()[i], source.read(i), options, 0,
                       [&](std::size_t, const std::vector<std::int32_t>& labels) {
                           for (const std::int32_t label : labels)
                               if (label > most[i] && !ignored(options, label)) most[i] = label;
                       });
    });
    for (std::size_t i = 0; i < most.size(); ++i)
        if (most[i] > kLargest)
            fail(ErrorKind::data,
                 "{} has label {}, but classes are at most {}; add it to `ignore` if it marks no class",
                 source.items()[i].path, most[i], kLargest);
    return most.empty() ? 0 : *std::max_element(most.begin(), most.end());
}

/// The classes of an item with planes: a single plane is class 1 of two.
std::size_t classes_of(const ItemInfo& info) {
    return info.planes == 1 ? 2 : info.planes;
}
}  // namespace

FolderCases::FolderCases(FolderCasesOptions options) : options_(std::move(options)) {
    const FolderOptions& how = options_.folder;
    if (!options_.labels.empty()) labels_ = open_images(options_.labels, Role::labels, how);
    source_ = open_images(options_.predictions, options_.hard ? Role::labels : Role::probabilities, how,
                          options_.labels);
    const Pairing pairing = pair_items(source_.get(), labels_.get());
    if (!pairing.bad.empty() && !pairing.advice.empty())
        fail(ErrorKind::data, "{}; {}", list_of(pairing.bad, pairing.files), pairing.advice);
    refuse_bad(pairing.bad, pairing.files, BadFiles::refuse);
    pairs_ = pairing.pairs;
    if (pairs_.empty()) fail(ErrorKind::data, "there is no file to read in {}", options_.predictions);
    volumes_ = info(0).volume;
    const ItemInfo* const truth = labels_ ? &labels_->items()[pairs_.front().labels] : nullptr;
    if (options_.hard) {
        for (std::size_t i = 0; i < size(); ++i)
            if (info(i).planes > 0)
                fail(ErrorKind::data, "{} has several planes, but a predicted mask has one, of labels",
                     info(i).path);
        classes_ = options_.classes;
        if (classes_ == 0 && truth != nullptr) classes_ = classes_of(*truth);
        if (classes_ == 0) {
            std::int32_t most = largest_label(*source_, how);
            if (labels_) most = std::max(most, largest_label(*labels_, how));
            classes_ = static_cast<std::size_t>(std::max(most, 1)) + 1;
        }
    } else {
        classes_ = classes_of(info(0));
    }
    if (truth != nullptr && truth->planes > 0 && classes_of(*truth) != classes_)
        fail(ErrorKind::data, "{} has masks of {} classes, but {} has {} classes", truth->path, truth->planes,
             info(0).path, classes_);
    for (std::size_t i = 0; i < size(); ++i) {
        if (info(i).volume != volumes_)
            fail(ErrorKind::data, "{} is {}, but {} is {}; outline them separately", info(i).path,
                 info(i).volume ? "a volume" : "an image", info(0).path, volumes_ ? "a volume" : "an image");
        if (info(i).planes != info(0).planes)
            fail(ErrorKind::data, "{} has {} classes, but {} has {}", info(i).path, info(i).planes,
                 info(0).path, info(0).planes);
    }
    number_groups();
    find_spacing();
}

void FolderCases::number_groups() {
    std::vector<std::string> names;
    for (const Pair& pair : pairs_) names.push_back(pair.name);
    if (options_.groups.empty()) {
        groups_ = group_ids(names, options_.folder.group_by);
        return;
    }
    if (options_.group_names.empty()) {
        if (options_.groups.size() != names.size())
            fail(ErrorKind::data, "there are {} groups, but {} cases; name them (NAME,GROUP in a .csv)",
                 options_.groups.size(), names.size());
        groups_ = options_.groups;
        return;
    }
    std::map<std::string, std::int64_t> of_name;
    for (std::size_t i = 0; i < options_.group_names.size(); ++i)
        of_name[options_.group_names[i]] = options_.groups[i];
    for (const std::string& name : names) {
        const auto found = of_name.find(name);
        if (found == of_name.end()) fail(ErrorKind::data, "{} has no group", name);
        groups_.push_back(found->second);
    }
}

void FolderCases::find_spacing() {
    if (options_.spacing[1] > 0) {
        unit_ = LengthUnit::millimetre;
        return;
    }
    const auto known = [&](std::size_t i) {
        return std::ranges::all_of(info(i).spacing, [](double s) { return s > 0; });
    };
    unit_ = known(0) ? LengthUnit::millimetre : LengthUnit::pixel;
    for (std::size_t i = 0; i < size(); ++i)
        if (known(i) != known(0))
            fail(ErrorKind::data, "{} has no voxel spacing, but other files have; give `spacing`",
                 info(known(0) ? i : 0).path);
}

Case FolderCases::read(std::size_t i) const {
    const ItemInfo& item = info(i);
    const FolderOptions& how = options_.folder;
    const std::size_t pixels = item.grid().pixels();
    Case out;
    out.extent = {item.slices, item.height, item.width};
    if (unit_ == LengthUnit::millimetre)
        out.spacing = options_.spacing[1] > 0 ? options_.spacing : item.spacing;
    const std::size_t voxels = out.extent.voxels();
    out.probs.assign(classes_ * voxels, 0.0f);
    Array values = source_->read(pairs_[i].probs);
    if (options_.hard) {
        for_each_slice(item, std::move(values), how, classes_,
                       [&](std::size_t s, const std::vector<std::int32_t>& labels) {
                           for (std::size_t p = 0; p < pixels; ++p) {
                               const auto cls =
                                   ignored(how, labels[p]) ? 0 : static_cast<std::size_t>(labels[p]);
                               out.probs[cls * voxels + s * pixels + p] = 1.0f;
                           }
                       });
    } else {
        FolderOptions own = how;
        own.fit = {GridFit::Kind::none, item.grid()};
        const SliceReader reader(item, std::move(values), own);
        std::vector<float> probs(classes_ * pixels);
        for (std::size_t s = 0; s < item.slices; ++s) {
            reader.data().read_probs(s, {0, pixels}, probs);
            for (std::size_t c = 0; c < classes_; ++c)
                std::copy_n(probs.data() + c * pixels, pixels, out.probs.data() + c * voxels + s * pixels);
        }
    }
    if (!labels_) return out;
    const ItemInfo& truth = labels_->items()[pairs_[i].labels];
    if (truth.slices != item.slices || truth.height != item.height || truth.width != item.width)
        fail(ErrorKind::data, "{} has {} x {} x {} voxels (x, y, z), but {} has {} x {} x {}", truth.path,
             truth.width, truth.height, truth.slices, item.path, item.width, item.height, item.slices);
    out.member.assign(classes_ * voxels, 0);
    out.valid.assign(voxels, 1);
    for_each_slice(truth, labels_->read(pairs_[i].labels), how, classes_,
                   [&](std::size_t s, const std::vector<std::int32_t>& labels) {
                       for (std::size_t k = 0; k < labels.size(); ++k) {
                           const std::size_t p = k % pixels, at = s * pixels + p;
                           if (truth.planes == 1) {
                               out.member[(labels[k] != 0 ? voxels : 0) + at] = 1;
                           } else if (truth.planes > 1) {
                               if (labels[k] != 0) out.member[k / pixels * voxels + at] = 1;
                           } else if (ignored(how, labels[k])) {
                               out.valid[at] = 0;
                           } else {
                               out.member[static_cast<std::size_t>(labels[k]) * voxels + at] = 1;
                           }
                       }
                   });
    return out;
}

void FolderCases::write(std::size_t i, const std::vector<std::uint8_t>& planes,
                        const std::filesystem::path& folder) const {
    const ItemInfo& item = info(i);
    const std::size_t pixels = item.grid().pixels(), voxels = pixels * item.slices,
                      count = planes.size() / voxels;
    std::vector<std::uint8_t> slices(planes.size());
    for (std::size_t s = 0; s < item.slices; ++s)
        for (std::size_t c = 0; c < count; ++c)
            std::copy_n(planes.data() + c * voxels + s * pixels, pixels,
                        slices.data() + (s * count + c) * pixels);
    source_->write_sets(pairs_[i].probs, {pairs_[i].name, slices.data(), count, SetCoding::planes}, folder);
}

}  // namespace kandinsky
