#include "io/folder/folder_dataset.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/team/team.hpp"
#include "io/array/scratch_array.hpp"
#include "io/folder/label_slices.hpp"
#include "io/folder/pattern.hpp"

namespace kandinsky {

namespace {
/// Runs work(i) for every good pair. If it throws an error about a file, the pair becomes bad.
class CaseRunner {
  public:
    CaseRunner(const std::vector<Pair>& pairs, Progress& progress)
        : pairs_(pairs), progress_(progress), problems_(pairs.size()) {}

    /// `path(i)`: the file that is read, for the list of bad files.
    template <class Path, class Work>
    void run(std::string_view stage, Path&& path, Work&& work) {
        parallel_for(pairs_.size(), progress_, stage, [&](std::size_t i) {
            if (!problems_[i].path.empty()) return;
            try {
                work(i);
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::file) throw;
                problems_[i] = {path(i), problem_text(error.what(), path(i))};
            }
        });
    }

    [[nodiscard]] bool good(std::size_t i) const { return problems_[i].path.empty(); }
    /// Collects the bad pairs. Throws an error that lists them, unless they are skipped.
    std::vector<BadFile> refuse_unless(BadFiles use, std::size_t files) const {
        std::vector<BadFile> bad;
        for (const BadFile& one : problems_)
            if (!one.path.empty()) bad.push_back(one);
        refuse_bad(bad, files, use);
        return bad;
    }

  private:
    const std::vector<Pair>& pairs_;
    Progress& progress_;
    std::vector<BadFile> problems_;
};

/// Distinguishes a failure of the scratch file (a full disk) from errors of the input files.
struct ScratchFull {
    Error error;
};

void put(ScratchArray& to, std::size_t row, const void* elements) {
    try {
        to.put(row, elements);
    } catch (const Error& error) {
        throw ScratchFull{error};
    }
}

/// The grid of all images. Throws an error that says how to bring images onto one grid.
GridFit common_fit(const ImageSource& source, const std::vector<Pair>& pairs, const FolderOptions& options,
                   bool from_labels) {
    GridFit fit = options.fit;
    if (fit.kind != GridFit::Kind::none) return fit;
    for (const Pair& pair : pairs) {
        const ItemInfo& info = source.items()[from_labels ? pair.labels : pair.probs];
        const Grid own = info.grid();
        if (fit.grid.pixels() == 0) fit.grid = own;
        if (own == fit.grid) continue;
        const ItemInfo& first = source.items()[from_labels ? pairs.front().labels : pairs.front().probs];
        fail(ErrorKind::data,
             "{} is {} x {} (height x width), but {} is {} x {}; bring all onto one grid with `grid WxH` "
             "(crop and pad) or `resize WxH`",
             info.path, info.height, info.width, first.path, first.height, first.width);
    }
    return fit;
}

/// [case] whether this rank reads it. Groups are divided so that all ranks read about the same number of
/// slices, and no group is split. `ids`: [case] its group; empty without groups.
std::vector<bool> own_cases(const Communicator& comm, const std::vector<std::size_t>& slices_of,
                            const std::vector<std::int64_t>& ids) {
    std::map<std::int64_t, std::uint64_t> before;  // [group] slices in groups of lower number
    const auto group = [&](std::size_t i) { return ids.empty() ? static_cast<std::int64_t>(i) : ids[i]; };
    for (std::size_t i = 0; i < slices_of.size(); ++i) before[group(i)] += slices_of[i];
    std::uint64_t all = 0;
    for (auto& [id, size] : before) all += std::exchange(size, all);
    std::vector<bool> own;
    for (std::size_t i = 0; i < slices_of.size(); ++i) {
        const auto here = before.find(group(i)), next = std::next(here);
        const std::uint64_t after = next == before.end() ? all : next->second;
        own.push_back(all > 0 && owner_of(here->second, after, all, comm.size()) == comm.rank());
    }
    return own;
}

FolderData read_for(const ImageSource* probs, const ImageSource* labels, const FolderOptions& asked,
                    Communicator& comm, Progress& progress) {
    FolderData out;
    FolderOptions options = asked;
    Pairing pairing = pair_items(probs, labels);
    if (!pairing.bad.empty() && !pairing.advice.empty())
        fail(ErrorKind::data, "{}; {}", list_of(pairing.bad, pairing.files), pairing.advice);
    refuse_bad(pairing.bad, pairing.files, options.bad_files);
    out.skipped = pairing.bad;
    if (!pairing.remark.empty()) out.remarks.push_back(pairing.remark);
    const std::vector<Pair>& pairs = pairing.pairs;
    if (pairs.empty())
        fail(ErrorKind::data, "no file is left to read; {}",
             pairing.bad.empty() ? "the folder is empty" : list_of(pairing.bad, pairing.files));
    const ImageSource& shape_source = probs != nullptr ? *probs : *labels;
    options.fit = common_fit(shape_source, pairs, options, probs == nullptr);
    const auto probs_info = [&](std::size_t i) -> const ItemInfo& { return probs->items()[pairs[i].probs]; };
    const auto labels_info = [&](std::size_t i) -> const ItemInfo& {
        return labels->items()[pairs[i].labels];
    };
    const auto info = [&](std::size_t i) -> const ItemInfo& {
        return probs != nullptr ? probs_info(i) : labels_info(i);
    };

    CaseRunner cases(pairs, progress);
    const auto group_numbers = [&] {
        std::vector<std::string> names;
        bool grouped = !options.group_by.empty();
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            names.push_back(pairs[i].name);
            grouped = grouped || (cases.good(i) && info(i).volume);
        }
        return grouped ? group_ids(names, options.group_by) : std::vector<std::int64_t>{};
    };
    // On several ranks every slice has a row, because a rank does not know which slices of other ranks have
    // annotations.
    const bool several = comm.size() > 1;
    std::vector<std::size_t> slices_of;
    for (std::size_t i = 0; i < pairs.size(); ++i) slices_of.push_back(info(i).slices);
    const std::vector<bool> mine =
        several ? own_cases(comm, slices_of, group_numbers()) : std::vector<bool>(pairs.size(), true);

    // The first pass over the labels finds the slices to take, and whether values fit into bytes.
    std::vector<std::vector<std::uint32_t>> slices(pairs.size());
    LabelRules rules =
        label_rules(options, labels != nullptr ? labels_info(0).planes : 0, pairs.size(), info);
    if (labels != nullptr) {
        if (probs != nullptr) {
            const std::size_t planes = probs_info(0).planes;
            rules.classes = planes == 1 ? 2 : planes;
            if (labels_info(0).planes > 0 && labels_info(0).planes != planes)
                fail(ErrorKind::data, "{} has masks of {} classes, but {} has {} classes",
                     labels_info(0).path, labels_info(0).planes, probs_info(0).path, planes);
        }
        std::atomic<bool> wide = rules.pad < 0 || rules.pad > 255;
        cases.run(
            "checking labels", [&](std::size_t i) { return labels_info(i).path; },
            [&](std::size_t i) {
                if (!mine[i]) return;
                const LabelSlices reader(labels_info(i), labels->read(pairs[i].labels), rules);
                for (std::size_t s = 0; s < labels_info(i).slices; ++s) {
                    const LabelSlices::Look look = reader.look(s);
                    if (look.annotated || !options.only_annotated)
                        slices[i].push_back(static_cast<std::uint32_t>(s));
                    if (look.wide) wide = true;
                }
            });
        rules.wide = most(comm, wide ? 1 : 0) == 1;
        (void)cases.refuse_unless(options.bad_files, pairing.files);
    } else {
        for (std::size_t i = 0; i < pairs.size(); ++i)
            for (std::size_t s = 0; s < info(i).slices && mine[i]; ++s)
                slices[i].push_back(static_cast<std::uint32_t>(s));
    }

    std::vector<std::size_t> first_row(pairs.size());
    std::size_t taken = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        first_row[i] = out.origins.size();
        if (!cases.good(i)) slices[i].clear();
        taken += slices[i].size();
        for (std::size_t k = 0; k < (several ? slices_of[i] : slices[i].size()); ++k)
            out.origins.push_back({pairs[i].name, several ? k : slices[i][k], i});
    }
    const auto row_of = [&](std::size_t i, std::size_t k) {
        return first_row[i] + (several ? slices[i][k] : k);
    };
    const std::size_t rows = out.origins.size();
    if (total(comm, taken) == 0) {
        const std::vector<BadFile> bad = cases.refuse_unless(BadFiles::skip, pairing.files);
        fail(ErrorKind::data, "no image is left to read: {}",
             bad.empty() ? "no slice holds an annotation" : list_of(bad, pairing.files));
    }
    const std::vector<std::int64_t> ids = group_numbers();
    const std::size_t height = options.fit.grid.height, width = options.fit.grid.width;
    try {
        if (labels != nullptr) {
            const std::size_t planes = labels_info(0).planes;
            std::vector<std::size_t> shape{height, width};
            if (planes > 0) shape.insert(shape.begin(), planes);
            ScratchArray scratch(rules.wide ? DType::int32 : DType::uint8, shape);
            scratch.extend(rows);
            cases.run(
                "reading labels", [&](std::size_t i) { return labels_info(i).path; },
                [&](std::size_t i) {
                    if (slices[i].empty()) return;
                    const LabelSlices reader(labels_info(i), labels->read(pairs[i].labels), rules);
                    std::vector<std::byte> item(size_of(scratch.dtype()) * height * width *
                                                std::max<std::size_t>(planes, 1));
                    for (std::size_t k = 0; k < slices[i].size(); ++k) {
                        reader.read(slices[i][k], item.data());
                        put(scratch, row_of(i, k), item.data());
                    }
                });
            out.labels = scratch.array();
        }
        if (probs != nullptr) {
            const std::size_t planes = probs_info(0).planes;
            ScratchArray scratch(DType::float32, {planes, height, width});
            scratch.extend(rows);
            std::atomic<std::uint64_t> certain = 0, pixels = 0;
            cases.run(
                "reading probabilities", [&](std::size_t i) { return probs_info(i).path; },
                [&](std::size_t i) {
                    if (slices[i].empty()) return;
                    const SliceReader reader(probs_info(i), probs->read(pairs[i].probs), options);
                    std::vector<float> item(planes * height * width);
                    std::size_t ones = 0;
                    for (std::size_t k = 0; k < slices[i].size(); ++k) {
                        reader.read(slices[i][k], item.data(), &ones);
                        put(scratch, row_of(i, k), item.data());
                    }
                    certain += ones;
                    pixels += slices[i].size() * probs_info(i).height * probs_info(i).width;
                });
            out.probs = scratch.array();
            certain = total(comm, certain);
            pixels = total(comm, pixels);
            if (certain > 0 && probs->format() == "nnU-Net") {
                const double share = 100.0 * static_cast<double>(certain) / static_cast<double>(pixels);
                out.remarks.push_back(fmt::format(
                    "{:.1f} % of the pixels ({}) have background probability exactly 1, as outside of "
                    "nnU-Net's crop; their scores of class 0 are all equal",
                    share, certain.load()));
                out.provenance["certain_background_pixels"] = certain.load();
            }
        }
    } catch (const ScratchFull& full) {
        throw full.error;
    }

    const std::vector<BadFile> late = cases.refuse_unless(options.bad_files, pairing.files);
    out.skipped.insert(out.skipped.end(), late.begin(), late.end());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!cases.good(i)) continue;
        ++out.cases;
        for (std::size_t k = 0; k < slices[i].size(); ++k)
            out.usable.push_back(static_cast<std::uint32_t>(row_of(i, k)));
    }
    out.rank_part = several;
    const std::uint64_t images = total(comm, out.usable.size());
    if (images == 0) fail(ErrorKind::data, "no image is left; {}", list_of(out.skipped, pairing.files));
    if (!ids.empty()) {
        std::vector<std::int64_t> all;
        for (std::size_t i = 0; i < pairs.size(); ++i)
            all.insert(all.end(), several ? slices_of[i] : slices[i].size(), ids[i]);
        out.groups = Array::copy_of(all, {rows});
    }
    if (!out.skipped.empty()) out.remarks.push_back("`skip_bad`: " + list_of(out.skipped, pairing.files));
    out.ignore = rules.ignore;
    nlohmann::ordered_json record = preparation_json(options);
    record["format"] = shape_source.format();
    record["cases"] = out.cases;
    record["images"] = images;
    for (const auto& [key, value] : out.provenance.items()) record[key] = value;
    if (!out.skipped.empty()) {
        record["skipped"] = nlohmann::ordered_json::array();
        for (const BadFile& bad : out.skipped)
            record["skipped"].push_back(std::filesystem::path(bad.path).filename().string());
    }
    out.provenance = std::move(record);
    return out;
}
}  // namespace

SliceReader::SliceReader(const ItemInfo& info, Array values, const FolderOptions& options)
    : data_(check_extents(info, std::move(values)), {.ignore = {},
                                                     .logits = options.logits,
                                                     .probs_name = info.path,
                                                     .labels_name = {},
                                                     .groups_name = {}}),
      info_(info),
      fit_(options.fit) {}

void SliceReader::read(std::size_t slice, float* out, std::size_t* certain_background) const {
    std::vector<float>& own = thread_buffer<float, struct SliceRead>();
    const std::size_t pixels = info_.height * info_.width;
    own.resize(data_.classes() * pixels);
    data_.read_probs(slice, {0, pixels}, own);
    const float* const planes = own.data() + (info_.planes == 1 ? pixels : 0);
    if (certain_background != nullptr && info_.planes > 1)
        *certain_background += static_cast<std::size_t>(std::count(planes, planes + pixels, 1.0f));
    for (std::size_t c = 0; c < info_.planes; ++c)
        fit_values(planes + c * pixels, info_.grid(), fit_, c == 0 && info_.planes > 1 ? 1.0f : 0.0f,
                   out + c * fit_.grid.pixels());
}

FolderData read_images(const ImageSource* probs, const ImageSource* labels, const FolderOptions& asked,
                       Progress& progress) {
    return read_for(probs, labels, asked, alone(), progress);
}

FolderData read_rank_part(const ImageSource* probs, const ImageSource* labels, const FolderOptions& asked,
                          const Team& team, bool groups_given, Progress& progress) {
    const bool all = asked.bad_files == BadFiles::skip || groups_given;
    return read_for(probs, labels, asked, all ? alone() : team.comm, progress);
}

}  // namespace kandinsky
