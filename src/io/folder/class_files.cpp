#include "io/folder/folder.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "io/array/npy.hpp"
#include "io/folder/pattern.hpp"

namespace kandinsky {

namespace {
class ClassFiles : public ImageSource {
  public:
    explicit ClassFiles(std::unique_ptr<ImageSource> files) : files_(std::move(files)) {
        static const std::regex pattern = make_pattern("(.+?)[_.-](?:c|class|channel|prob|p)?_?([0-9]{1,4})");
        std::map<std::string, std::multimap<unsigned, std::size_t>> cases;
        std::vector<std::pair<ItemInfo, std::vector<std::size_t>>> made;
        const std::vector<ItemInfo>& all = files_->items();
        for (std::size_t i = 0; i < all.size(); ++i) {
            std::smatch match;
            if (!std::regex_match(all[i].name, match, pattern)) {
                made.emplace_back(all[i], std::vector<std::size_t>{});
                made.back().first.problem = "has no class number at the end of its name";
                continue;
            }
            unsigned number = 0;
            const std::string digits = match[2].str();
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
            cases[match[1].str()].emplace(number, i);
        }
        for (const auto& [name, numbered] : cases) {
            ItemInfo info = all[numbered.begin()->second];
            info.name = name;
            std::vector<std::size_t> parts;
            unsigned expected = 0;
            for (const auto& [number, i] : numbered) {
                if (number != expected++ && info.problem.empty())
                    info.problem =
                        fmt::format("class {} of {} is {}", number < expected - 1 ? number : expected - 1,
                                    name, number < expected - 1 ? "there twice" : "missing");
                const ItemInfo& part = all[i];
                if (info.problem.empty() && !part.problem.empty()) info.problem = part.problem;
                if (info.problem.empty() && (part.planes > 1 || part.slices != info.slices ||
                                             part.height != info.height || part.width != info.width))
                    info.problem = fmt::format("{} has another shape or several planes", part.path);
                parts.push_back(i);
            }
            info.planes = parts.size();
            made.emplace_back(std::move(info), std::move(parts));
        }
        std::stable_sort(made.begin(), made.end(),
                         [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
        for (auto& [info, parts] : made) {
            items_.push_back(std::move(info));
            parts_.push_back(std::move(parts));
        }
    }

    [[nodiscard]] std::string_view format() const override { return files_->format(); }

    [[nodiscard]] Array read(std::size_t item) const override {
        const ItemInfo& info = items_[item];
        const std::size_t pixels = info.height * info.width;
        Array out;
        for (std::size_t c = 0; c < parts_[item].size(); ++c) {
            const Array part = files_->read(parts_[item][c]);
            if (c == 0) out = Array::zeros(part.dtype(), {info.slices, info.planes, info.height, info.width});
            if (part.dtype() != out.dtype())
                fail(ErrorKind::data, "{} holds {}, but the files of other classes {}",
                     files_->items()[parts_[item][c]].path, name_of(part.dtype()), name_of(out.dtype()));
            const ArrayView& view = part.view();
            for (std::size_t s = 0; s < info.slices; ++s) {
                std::byte* to = out.mutable_data() + (s * info.planes + c) * pixels * size_of(view.dtype);
                for_each_c_order_piece(
                    {view.at(s),
                     view.dtype,
                     {info.height, info.width},
                     {view.strides.end() - 2, view.strides.end()}},
                    [&](const std::byte* from, std::size_t bytes) { to = std::copy_n(from, bytes, to); });
            }
        }
        return out;
    }

    void write_sets(std::size_t item, const ItemSets& sets,
                    const std::filesystem::path& folder) const override {
        files_->write_sets(parts_[item].front(), sets, folder);
    }

  private:
    std::unique_ptr<ImageSource> files_;
    std::vector<std::vector<std::size_t>> parts_;
};
}  // namespace

std::unique_ptr<ImageSource> join_class_files(std::unique_ptr<ImageSource> files) {
    return std::make_unique<ClassFiles>(std::move(files));
}

}  // namespace kandinsky
