#include "cli/commands/outline_files.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "cli/process/outputs.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/array/npy.hpp"
#include "io/folder/folder_cases.hpp"
#include "report/figure/contour.hpp"

namespace kandinsky::cli {

namespace {
/// Draws a case: a picture for each class, of the slice with the largest outer mask.
void draw(const OutlineRule& rule, const Case& one, const std::vector<std::uint8_t>& codes,
          const std::string& name, const std::filesystem::path& folder) {
    const std::size_t pixels = one.extent.height * one.extent.width, voxels = one.extent.voxels();
    for (std::size_t c = 0; c < rule.classes.size(); ++c) {
        const std::uint8_t* const own = codes.data() + c * voxels;
        std::size_t best = one.extent.depth / 2, most = 0;
        for (std::size_t s = 0; s < one.extent.depth; ++s) {
            const auto zeros =
                static_cast<std::size_t>(std::count(own + s * pixels, own + (s + 1) * pixels, kOutside));
            if (pixels - zeros > most) most = pixels - zeros, best = s;
        }
        const std::size_t number = rule.classes[c].number, at = number * voxels + best * pixels;
        const std::span<const std::uint8_t> truth =
            one.member.empty() ? std::span<const std::uint8_t>() : std::span(one.member).subspan(at, pixels);
        const Grid grid{static_cast<std::uint32_t>(one.extent.height),
                        static_cast<std::uint32_t>(one.extent.width)};
        AtomicFile file(folder / fmt::format("{}_class{}.png", name, number));
        file.write(contour_png(std::span(one.probs).subspan(at, pixels), {own + best * pixels, pixels}, truth,
                               grid));
        file.commit();
    }
}

/// Writes the rows of an array in order.
class Rows {
  public:
    Rows(AtomicFile& file, const OutlineRule& rule, const CaseSource& cases)
        : file_(file), rule_(rule), cases_(cases) {
        if (cases.images(0).empty()) return;
        for (std::size_t i = 0; i < cases.size(); ++i) images_ += cases.images(i).size();
    }

    void add(std::size_t i, const Extent& extent, std::vector<std::uint8_t> codes) {
        const std::vector<std::size_t> images = cases_.images(i);
        begin(extent);
        if (images.empty()) return file_.write(codes.data(), codes.size());
        const std::size_t pixels = extent.height * extent.width, classes = rule_.classes.size();
        for (std::size_t s = 0; s < images.size(); ++s) {
            std::vector<std::uint8_t>& row = waiting_[images[s]];
            for (std::size_t c = 0; c < classes; ++c) {
                const std::uint8_t* const from = codes.data() + (c * images.size() + s) * pixels;
                row.insert(row.end(), from, from + pixels);
            }
        }
        // Slices of a volume need not be adjacent in the input. A row is kept until the earlier rows exist.
        for (auto row = waiting_.begin(); row != waiting_.end() && row->first == next_; ++next_) {
            file_.write(row->second.data(), row->second.size());
            row = waiting_.erase(row);
        }
    }

  private:
    void begin(const Extent& extent) {
        if (!size_) {
            size_ = extent;
            std::vector<std::size_t> shape{images_ > 0 ? images_ : cases_.size(), rule_.classes.size(),
                                           extent.height, extent.width};
            if (images_ == 0 && rule_.volumes) shape.insert(shape.begin() + 2, extent.depth);
            file_.write(npy_header(DType::uint8, shape));
        }
        if (images_ == 0 && !(extent == *size_))
            fail(ErrorKind::data,
                 "an array needs cases of one size, but one case has {} x {} x {} voxels "
                 "(slices x height x width) and another has {} x {} x {}; write volumes of several "
                 "sizes into a folder",
                 size_->depth, size_->height, size_->width, extent.depth, extent.height, extent.width);
    }

    AtomicFile& file_;
    const OutlineRule& rule_;
    const CaseSource& cases_;
    std::size_t images_ = 0, next_ = 0;  ///< rows in all (0 if cases are files); the next row to write
    std::optional<Extent> size_;
    std::map<std::size_t, std::vector<std::uint8_t>> waiting_;
};
}  // namespace

void write_outlines(const OutlineFolders& folders, const OutlineRule& rule, const CaseSource& cases,
                    const Calibrator* calibrator, AtomicFile* array, TerminalProgress& progress) {
    std::optional<FolderOutput> folder, pictures;
    if (!folders.files.empty()) folder.emplace(folders.files);
    if (!folders.pictures.empty()) pictures.emplace(folders.pictures);
    const auto* const files = dynamic_cast<const FolderCases*>(&cases);
    const auto made = [&](std::size_t i) {
        if (progress.cancelled()) throw Interrupted();
        const Case one = cases.read(i);
        std::vector<std::uint8_t> codes = outline_case(rule, one, calibrator);
        if (pictures) draw(rule, one, codes, cases.name(i), pictures->folder());
        if (folder) files->write(i, codes, folder->folder());
        return std::pair(one.extent, std::move(codes));
    };
    if (array == nullptr) {
        parallel_for(cases.size(), progress, "outlining", [&](std::size_t i) { (void)made(i); });
    } else {
        Rows rows(*array, rule, cases);
        constexpr std::size_t kBlock = 64;
        for (std::size_t first = 0; first < cases.size(); first += kBlock) {
            progress.update("outlining", first, cases.size());
            const std::size_t count = std::min(kBlock, cases.size() - first);
            std::vector<std::pair<Extent, std::vector<std::uint8_t>>> block(count);
            parallel_for(count, [&](std::size_t i) { block[i] = made(first + i); });
            for (std::size_t i = 0; i < count; ++i)
                rows.add(first + i, block[i].first, std::move(block[i].second));
        }
    }
    if (folder) folder->commit();
    if (pictures) pictures->commit();
}

}  // namespace kandinsky::cli
