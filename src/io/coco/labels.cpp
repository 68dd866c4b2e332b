#include <algorithm>

#include "io/coco/index.hpp"
#include "io/coco/json.hpp"
#include "io/mask/polygon.hpp"
#include "io/mask/run_lengths.hpp"

namespace kandinsky {

namespace coco {
namespace {

constexpr std::size_t kFewestNumbers = 6;  // three corners

/// The outline of an annotation drawn into a mask of its image. Throws Problem, or Error that begins with
/// `name`.
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
            for (auto number : take(polygon.get_array(), "has a polygon that is no list of numbers")) {
                const double value =
                    take(number.get_double(), "has a polygon with something else than numbers");
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
                for (auto number : take(field.value().get_array(), "has a \"size\" that is no list"))
                    size.push_back(take(number.get_int64(), "has a \"size\" that is no [height, width]"));
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
            runs_.push_back(take(number.get_int64(), "has \"counts\" that are no whole numbers"));
        }
    }

    PieceParser parser_;
    std::vector<double> points_;
    std::vector<std::int64_t> runs_;
};

/// The union of every class's objects, [K][pixels], and of the crowds that count as no class.
struct Masks {
    std::vector<std::uint8_t> classes, ignored;
};

Masks draw(const CocoFile::Index& index, std::size_t image) {
    const Grid grid{.height = index.images[image].height, .width = index.images[image].width};
    Masks masks{std::vector<std::uint8_t>(index.class_names.size() * grid.pixels()), {}};
    OutlineReader reader;
    for (std::size_t a = index.first[image]; a < index.first[image + 1]; ++a) {
        const Annotation& one = index.annotations[a];
        const std::string name = fmt::format("{}: annotation {}", index.name, one.id);
        std::uint8_t* mask = masks.classes.data() + (one.klass - std::size_t{1}) * grid.pixels();
        if (one.crowd && index.options.crowd == CocoCrowd::ignore) {
            masks.ignored.resize(grid.pixels());
            mask = masks.ignored.data();
        }
        try {
            reader.fill(index.text().substr(one.outline.begin, one.outline.end - one.outline.begin), grid,
                        mask, name);
        } catch (const Problem& problem) {
            fail(ErrorKind::data, "{} {}", name, problem.text);
        }
    }
    return masks;
}

}  // namespace
}  // namespace coco

Array CocoFile::labels(std::size_t image) const {
    const coco::Masks masks = coco::draw(*index_, image);
    const std::size_t classes = index_->class_names.size();
    const std::size_t height = index_->images[image].height, width = index_->images[image].width;
    const std::size_t pixels = height * width;
    if (index_->options.overlap == CocoOverlap::masks) {
        if (!masks.ignored.empty())
            fail(ErrorKind::usage,
                 "{}: crowds cannot be ignored when classes come as masks, which have no ignored pixels",
                 index_->name);
        Array out = Array::zeros(DType::uint8, {classes + 1, height, width});
        auto* const planes = reinterpret_cast<std::uint8_t*>(out.mutable_data());
        std::copy(masks.classes.begin(), masks.classes.end(), planes + pixels);
        for (std::size_t p = 0; p < pixels; ++p) {
            std::uint8_t any = 0;
            for (std::size_t c = 0; c < classes; ++c) any |= masks.classes[c * pixels + p];
            planes[p] = any ^ 1;
        }
        return out;
    }
    Array out = Array::zeros(DType::uint8, {height, width});
    auto* const labels = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t p = 0; p < pixels; ++p)
            if (masks.classes[c * pixels + p] != 0)
                labels[p] = labels[p] == 0 ? static_cast<std::uint8_t>(c + 1) : kCocoIgnored;
    for (std::size_t p = 0; p < masks.ignored.size(); ++p)
        if (masks.ignored[p] != 0 && labels[p] == 0) labels[p] = kCocoIgnored;
    return out;
}

}  // namespace kandinsky
