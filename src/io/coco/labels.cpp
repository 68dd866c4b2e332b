#include <algorithm>

#include "io/coco/index.hpp"
#include "io/mask/mask.hpp"

namespace kandinsky {

namespace coco {
namespace {
constexpr std::size_t kFewestNumbers = 6;  // three corners

/// Draws an annotation's outline into a mask of its image. Throws Problem, or Error that begins with `name`.
class OutlineReader {
  public:
    void fill(std::string_view text, const Grid& grid, std::uint8_t* mask, const std::string& name) {
        ondemand::document document = parser_.value(text);
        if (text.front() == '[')
            fill_polygons(take(document.get_array(), "has damaged polygons"), grid, mask);
        else
            fill_runs(take(document.get_object(), "has damaged run lengths"), grid, mask, name);
    }

  private:
    void fill_polygons(ondemand::array polygons, const Grid& grid, std::uint8_t* mask) {
        for (auto polygon : polygons) {
            points_.clear();
            for (auto number : take(polygon.get_array(), "has a polygon that is not a list of numbers")) {
                const double value =
                    take(number.get_double(), "has a polygon with values that are not numbers");
                if (!(std::abs(value) <= kLargestCoordinate))
                    throw Problem{fmt::format("has a polygon that reaches to {}", value)};
                points_.push_back(value);
            }
            if (points_.size() % 2 != 0 || points_.size() < kFewestNumbers)
                throw Problem{fmt::format(
                    "has a polygon of {} numbers, but x and y of at least three corners are needed",
                    points_.size())};
            fill_polygon(points_, grid, mask);
        }
    }

    void fill_runs(ondemand::object object, const Grid& grid, std::uint8_t* mask, const std::string& name) {
        std::vector<std::int64_t> size;
        bool counted = false;
        runs_.clear();
        for (auto member : object) {
            ondemand::field field = take(std::move(member), "has damaged run lengths");
            const std::string_view key = take(field.unescaped_key(), "has damaged run lengths");
            if (key == "size") {
                for (auto number : take(field.value().get_array(), "has a \"size\" that is not a list"))
                    size.push_back(take(number.get_int64(), "has a \"size\" that is not [height, width]"));
            } else if (key == "counts") {
                counted = true;
                read_counts(field.value(), grid, name);
            }
        }
        if (!counted) throw Problem{"has no \"counts\" in its run lengths"};
        const bool same =
            size.size() == 2 && size[0] == std::int64_t{grid.height} && size[1] == std::int64_t{grid.width};
        if (!same)
            throw Problem{fmt::format("has run lengths for [{}], but its image is [{}, {}] (height, width)",
                                      fmt::join(size, ", "), grid.height, grid.width)};
        fill_run_lengths(runs_, grid, mask, name);
    }

    void read_counts(ondemand::value value, const Grid& grid, const std::string& name) {
        if (take(value.type(), "has damaged \"counts\"") == ondemand::json_type::string) {
            runs_ =
                unpack_run_lengths(take(value.get_string(), "has damaged \"counts\""), grid.pixels(), name);
            return;
        }
        for (auto number : take(value.get_array(), "has \"counts\" that are neither numbers nor text")) {
            if (runs_.size() > grid.pixels()) throw Problem{"has more run lengths than its image has pixels"};
            runs_.push_back(take(number.get_int64(), "has \"counts\" that are not whole numbers"));
        }
    }

    PieceParser parser_;
    std::vector<double> points_;
    std::vector<std::int64_t> runs_;
};

/// Stands for crowds that are ignored. It is larger than all classes, so such crowds are drawn last.
constexpr std::uint32_t kNoClass = 1 << 16;

/// Draws the annotations of one image by class.
class Drawing {
  public:
    Drawing(const CocoFile::Index& index, std::size_t image)
        : index_(index), grid_{.height = index.images[image].height, .width = index.images[image].width} {
        for (std::size_t a = index.first[image]; a < index.first[image + 1]; ++a) {
            const Annotation& one = index.annotations[a];
            const bool ignored = one.crowd && index.options.crowd == CocoCrowd::ignore;
            order_.emplace_back(ignored ? kNoClass : one.klass, a);
        }
        std::sort(order_.begin(), order_.end());
    }

    [[nodiscard]] const Grid& grid() const { return grid_; }

    /// The classes that occur, ascending.
    [[nodiscard]] std::vector<std::uint32_t> classes() const {
        std::vector<std::uint32_t> out;
        for (const auto& [klass, annotation] : order_)
            if (out.empty() || out.back() != klass) out.push_back(klass);
        return out;
    }

    /// Adds the objects of a class to a mask.
    void draw(std::uint32_t klass, std::uint8_t* mask) {
        for (const auto& [own, annotation] : order_) {
            if (own != klass) continue;
            const Annotation& one = index_.annotations[annotation];
            const std::string name = fmt::format("{}: annotation {}", index_.name, one.id);
            try {
                reader_.fill(
                    index_.file.text().substr(one.outline.begin, one.outline.end - one.outline.begin), grid_,
                    mask, name);
            } catch (const Problem& problem) {
                fail(ErrorKind::data, "{} {}", name, problem.text);
            }
        }
    }

  private:
    const CocoFile::Index& index_;
    Grid grid_;
    std::vector<std::pair<std::uint32_t, std::size_t>> order_;
    OutlineReader reader_;
};

Array masks_of(const CocoFile::Index& index, Drawing& drawing) {
    const std::size_t pixels = drawing.grid().pixels();
    Array out = Array::zeros(DType::uint8,
                             {index.class_names.size() + 1, drawing.grid().height, drawing.grid().width});
    auto* const background = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    std::fill(background, background + pixels, std::uint8_t{1});
    for (const std::uint32_t klass : drawing.classes()) {
        if (klass == kNoClass)
            fail(ErrorKind::usage,
                 "{}: crowds cannot be ignored when classes come as masks, which have no ignored pixels",
                 index.name);
        std::uint8_t* const mask = background + klass * pixels;
        drawing.draw(klass, mask);
        for (std::size_t p = 0; p < pixels; ++p)
            background[p] = static_cast<std::uint8_t>(background[p] & ~mask[p]);
    }
    return out;
}
}  // namespace
}  // namespace coco

Array CocoFile::labels(std::size_t image) const {
    coco::Drawing drawing(*index_, image);
    if (index_->options.overlap == CocoOverlap::masks) return coco::masks_of(*index_, drawing);
    const std::size_t pixels = drawing.grid().pixels();
    Array out = Array::zeros(DType::uint8, {drawing.grid().height, drawing.grid().width});
    auto* const labels = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    std::vector<std::uint8_t> mask;
    for (const std::uint32_t klass : drawing.classes()) {
        mask.assign(pixels, 0);
        drawing.draw(klass, mask.data());
        const bool ignored = klass == coco::kNoClass;
        const auto label = ignored ? kCocoIgnored : static_cast<std::uint8_t>(klass);
        const bool undecided = !ignored;  // a pixel of two classes is ignored
        for (std::size_t p = 0; p < pixels; ++p)
            if (mask[p] != 0) labels[p] = labels[p] == 0 ? label : undecided ? kCocoIgnored : labels[p];
    }
    return out;
}

}  // namespace kandinsky
