#include "io/coco/index.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>

#include "core/base/parallel.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

namespace coco {
namespace {
/// Elements are parsed in runs of about this many bytes; a thread takes kStrip runs at a time.
constexpr std::size_t kWindow = std::size_t{1} << 18;
constexpr std::size_t kStrip = 64;
constexpr std::int64_t kLongestSide = 65535, kMostPixels = std::int64_t{1} << 28;
constexpr std::size_t kMostClasses = 254;  // 255 is the ignored label

/// The `id` of the k-th element of a run, for a message; nothing if it cannot be read.
std::optional<std::int64_t> id_of_element(std::string_view run, std::size_t k) {
    try {
        PieceParser parser;
        ondemand::document document = parser.elements(run);
        for (auto element : document.get_array()) {
            if (k-- > 0) continue;
            std::int64_t id = 0;
            if (element.find_field_unordered("id").get_int64().get(id) == simdjson::SUCCESS) return id;
            break;
        }
    } catch (const Problem&) {
    } catch (const simdjson::simdjson_error&) {
    }
    return std::nullopt;
}

/// Calls read(object, parser, offset of the run) for every element of an array's runs, in parallel. Results
/// that are not empty are kept in the file's order. Throws the first error in the file's order.
template <class T, class Read>
std::vector<T> read_elements(const CocoFile::Index& index, const JsonRuns& runs, const char* kind,
                             Read&& read) {
    const std::size_t strips = (runs.runs.size() + kStrip - 1) / kStrip;
    std::vector<std::vector<T>> parts(strips);
    std::vector<std::exception_ptr> errors(strips);
    const auto read_run = [&](PieceParser& parser, TextRange range, std::vector<T>& out) {
        const std::string_view run = index.file.text().substr(range.begin, range.end - range.begin);
        std::size_t number = 0, byte = range.begin;
        std::string complaint;
        try {
            ondemand::document document = parser.elements(run);
            for (auto element : take(document.get_array(), "is not an array")) {
                ondemand::value value = take(element, "is damaged JSON");
                byte = range.begin + parser.offset_of(value.raw_json_token());
                if (std::optional<T> one =
                        read(take(value.get_object(), "is not an object"), parser, range.begin))
                    out.push_back(std::move(*one));
                ++number;
            }
            return;
        } catch (const Problem& problem) {
            complaint = problem.text;
        }
        const std::optional<std::int64_t> id = id_of_element(run, number);
        fail(ErrorKind::data, "{}: {} {} {}", index.name, kind,
             id ? std::to_string(*id) : fmt::format("at byte {}", byte), complaint);
    };
    parallel_for(strips, [&](std::size_t strip) {
        try {
            PieceParser parser;
            const std::size_t last = std::min(runs.runs.size(), (strip + 1) * kStrip);
            for (std::size_t run = strip * kStrip; run < last; ++run)
                read_run(parser, runs.runs[run], parts[strip]);
        } catch (...) {
            errors[strip] = std::current_exception();
        }
    });
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
    std::vector<T> all;
    std::size_t size = 0;
    for (const std::vector<T>& part : parts) size += part.size();
    all.reserve(size);
    for (std::vector<T>& part : parts) {
        all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
        std::vector<T>().swap(part);
    }
    return all;
}

template <class T>
T need(std::optional<T>& value, const char* key) {
    if (!value) throw Problem{fmt::format("has no \"{}\"", key)};
    return std::move(*value);
}

/// Calls use(key, value) for every member of an object.
template <class Use>
void for_each_member(ondemand::object object, Use&& use) {
    for (auto result : object) {
        ondemand::field field = take(std::move(result), "is damaged JSON");
        const std::string_view key = take(field.unescaped_key(), "has a damaged key");
        use(key, field.value());
    }
}

struct Category {
    std::int64_t id = 0;
    std::string name;
};

std::optional<Category> read_category(ondemand::object object) {
    std::optional<std::int64_t> id;
    std::optional<std::string> name;
    for_each_member(object, [&](std::string_view key, ondemand::value value) {
        if (key == "id")
            id = take(value.get_int64(), "has an \"id\" that is not a whole number");
        else if (key == "name")
            name = take(value.get_string(), "has a \"name\" that is not text");
    });
    return Category{need(id, "id"), need(name, "name")};
}

/// Checks that a file's name stays inside the image folder.
std::string safe_name(std::string_view text) {
    const std::filesystem::path path(text);
    const bool leaves = path.is_absolute() || path.filename().empty() ||
                        text.find('\0') != std::string_view::npos ||
                        text.find('\\') != std::string_view::npos ||
                        std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
    if (leaves)
        throw Problem{fmt::format("has the \"file_name\" '{}', which is not a file inside the image folder",
                                  printable(text))};
    return std::string(text);
}

std::optional<CocoImage> read_image(ondemand::object object) {
    std::optional<std::int64_t> id, height, width;
    std::optional<std::string> file_name;
    for_each_member(object, [&](std::string_view key, ondemand::value value) {
        if (key == "id")
            id = take(value.get_int64(), "has an \"id\" that is not a whole number");
        else if (key == "height")
            height = take(value.get_int64(), "has a \"height\" that is not a whole number");
        else if (key == "width")
            width = take(value.get_int64(), "has a \"width\" that is not a whole number");
        else if (key == "file_name")
            file_name = safe_name(take(value.get_string(), "has a \"file_name\" that is not text"));
    });
    CocoImage image;
    image.id = need(id, "id");
    const std::int64_t rows = need(height, "height"), columns = need(width, "width");
    image.file_name = need(file_name, "file_name");
    if (rows < 1 || columns < 1 || rows > kLongestSide || columns > kLongestSide)
        throw Problem{
            fmt::format("is {} x {} pixels, but sides must be 1 to {}", rows, columns, kLongestSide)};
    if (rows * columns > kMostPixels)
        throw Problem{fmt::format("has {} x {} pixels, more than {}", rows, columns, kMostPixels)};
    image.height = static_cast<std::uint32_t>(rows);
    image.width = static_cast<std::uint32_t>(columns);
    return image;
}

/// An annotation as in the file, with the id of its image.
struct Entry {
    std::int64_t id = 0, image_id = 0;
    TextRange outline;
    std::uint16_t klass = 0;
    bool crowd = false;
};

/// Ids in ascending order with their values.
using Lookup = std::vector<std::pair<std::int64_t, std::uint32_t>>;

const std::uint32_t* find(const Lookup& lookup, std::int64_t id) {
    const auto at = std::lower_bound(lookup.begin(), lookup.end(), std::pair{id, std::uint32_t{0}});
    return at != lookup.end() && at->first == id ? &at->second : nullptr;
}

bool read_crowd(ondemand::value value) {
    bool truth = false;
    if (value.get_bool().get(truth) == simdjson::SUCCESS) return truth;
    const char* const wrong = "has an \"iscrowd\" that is neither 0 nor 1";
    const std::int64_t number = take(value.get_int64(), wrong);
    if (number != 0 && number != 1) throw Problem{wrong};
    return number == 1;
}

std::optional<Entry> read_annotation(ondemand::object object, const PieceParser& parser, std::size_t begin,
                                     const Lookup& classes) {
    Entry entry;
    std::optional<std::int64_t> id, image, category;
    std::optional<TextRange> outline;
    for_each_member(object, [&](std::string_view key, ondemand::value value) {
        if (key == "id") {
            id = take(value.get_int64(), "has an \"id\" that is not a whole number");
        } else if (key == "image_id") {
            image = take(value.get_int64(), "has an \"image_id\" that is not a whole number");
        } else if (key == "category_id") {
            category = take(value.get_int64(), "has a \"category_id\" that is not a whole number");
        } else if (key == "iscrowd") {
            entry.crowd = read_crowd(value);
        } else if (key == "segmentation") {
            const char* const damaged = "has a damaged \"segmentation\"";
            const auto type = take(value.type(), damaged);
            if (type != ondemand::json_type::array && type != ondemand::json_type::object)
                throw Problem{"has a \"segmentation\" that is neither polygons nor run lengths"};
            const std::string_view text = type == ondemand::json_type::array
                                              ? take(take(value.get_array(), damaged).raw_json(), damaged)
                                              : take(take(value.get_object(), damaged).raw_json(), damaged);
            const std::size_t at = begin + parser.offset_of(text);
            outline = TextRange{at, at + text.size()};
        }
    });
    const std::uint32_t* const klass = find(classes, need(category, "category_id"));
    if (klass == nullptr) return std::nullopt;
    entry.id = need(id, "id");
    entry.image_id = need(image, "image_id");
    entry.outline = need(outline, "segmentation");
    entry.klass = static_cast<std::uint16_t>(*klass);
    return entry;
}

/// The ids of the chosen categories with their classes, 1 for the first.
Lookup choose_classes(CocoFile::Index& index, const std::vector<Category>& categories) {
    const std::vector<std::string>& wanted = index.options.categories;
    if (wanted.empty() || wanted.size() > kMostClasses)
        fail(ErrorKind::usage, "`categories` names {} categories of {}, but must name 1 to {}", wanted.size(),
             index.name, kMostClasses);
    Lookup classes;
    for (const std::string& word : wanted) {
        const Category* found = nullptr;
        for (const Category& category : categories)
            if (category.name == word) {
                if (found != nullptr)
                    fail(ErrorKind::data,
                         "{}: the categories {} and {} are both named '{}'; choose one by its id", index.name,
                         found->id, category.id, printable(word));
                found = &category;
            }
        std::int64_t id = 0;
        const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (found == nullptr && status == std::errc() && end == word.data() + word.size())
            for (const Category& category : categories)
                if (category.id == id) found = &category;
        if (found == nullptr) {
            std::string known;
            for (const Category& category : categories) known += (known.empty() ? "" : ", ") + category.name;
            fail(ErrorKind::usage, "{} has no category '{}'; it has {}", index.name, printable(word),
                 known.empty() ? "none" : printable(known, 400));
        }
        if (std::any_of(classes.begin(), classes.end(),
                        [&](const auto& one) { return one.first == found->id; }))
            fail(ErrorKind::usage, "`categories` names '{}' of {} twice", printable(found->name), index.name);
        classes.emplace_back(found->id, static_cast<std::uint32_t>(classes.size() + 1));
        index.class_names.push_back(found->name);
    }
    std::sort(classes.begin(), classes.end());
    return classes;
}

/// The ids of the images with their numbers. Refuses an id that two images have.
Lookup number_images(const CocoFile::Index& index) {
    Lookup numbers;
    numbers.reserve(index.images.size());
    for (std::size_t i = 0; i < index.images.size(); ++i)
        numbers.emplace_back(index.images[i].id, static_cast<std::uint32_t>(i));
    std::sort(numbers.begin(), numbers.end());
    const auto twin = std::adjacent_find(numbers.begin(), numbers.end(),
                                         [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twin != numbers.end())
        fail(ErrorKind::data, "{}: two images have the id {}", index.name, twin->first);
    return numbers;
}

/// Sorts the annotations by image.
void sort_annotations(CocoFile::Index& index, const std::vector<Entry>& entries) {
    const Lookup numbers = number_images(index);
    std::vector<std::uint32_t> image_of;
    image_of.reserve(entries.size());
    index.first.assign(index.images.size() + 1, 0);
    for (const Entry& entry : entries) {
        const std::uint32_t* const image = find(numbers, entry.image_id);
        if (image == nullptr)
            fail(ErrorKind::data, "{}: annotation {} belongs to the image {}, which the file does not list",
                 index.name, entry.id, entry.image_id);
        image_of.push_back(*image);
        ++index.first[*image + 1];
        ++index.images[*image].annotations;
    }
    for (std::size_t i = 0; i < index.images.size(); ++i) index.first[i + 1] += index.first[i];
    index.annotations.resize(entries.size());
    std::vector<std::size_t> next(index.first.begin(), index.first.end() - 1);
    for (std::size_t i = 0; i < entries.size(); ++i)
        index.annotations[next[image_of[i]]++] = {entries[i].id, entries[i].outline, image_of[i],
                                                  entries[i].klass, entries[i].crowd};
}
}  // namespace
}  // namespace coco

CocoFile::CocoFile(const std::filesystem::path& path, const CocoOptions& options) {
    auto index = std::make_shared<Index>();
    index->name = printable(path.string());
    index->file = map_file(path);
    index->options = options;
    constexpr std::string_view kKeys[] = {"categories", "images", "annotations"};
    const std::vector<JsonRuns> parts = outline_json(index->file.text(), kKeys, coco::kWindow, index->name);
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!parts[i].found)
            fail(ErrorKind::data, "{}: the JSON has no \"{}\", so it is not a file of COCO annotations",
                 index->name, kKeys[i]);
    const auto categories = coco::read_elements<coco::Category>(
        *index, parts[0], "category",
        [](coco::ondemand::object object, const auto&, std::size_t) { return coco::read_category(object); });
    const coco::Lookup classes = coco::choose_classes(*index, categories);
    index->images = coco::read_elements<CocoImage>(
        *index, parts[1], "image",
        [](coco::ondemand::object object, const auto&, std::size_t) { return coco::read_image(object); });
    coco::sort_annotations(
        *index, coco::read_elements<coco::Entry>(
                    *index, parts[2], "annotation",
                    [&](coco::ondemand::object object, const coco::PieceParser& parser, std::size_t begin) {
                        return coco::read_annotation(object, parser, begin, classes);
                    }));
    index_ = index;
    listing_ = index;
}

}  // namespace kandinsky
