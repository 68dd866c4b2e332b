#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "core/base/fail.hpp"
#include "partition/method.hpp"

namespace kandinsky {

namespace partition {
extern const Method* const kMethods[];
extern const unsigned kMethodCount;
}  // namespace partition

std::vector<const Method*> methods() {
    std::vector<const Method*> all(partition::kMethods, partition::kMethods + partition::kMethodCount);
    std::stable_sort(all.begin(), all.end(),
                     [](const Method* a, const Method* b) { return a->order < b->order; });
    return all;
}

const Method& method(std::string_view name) {
    for (const Method* candidate : methods())
        if (candidate->name == name) return *candidate;
    fail(ErrorKind::usage, "there is no method '{}'; choose one of {}", name,
         fmt::join(method_names(), ", "));
}

MethodChoice::MethodChoice() : name(default_method()) {}
MethodChoice::MethodChoice(const char* method) : name(method) {}
MethodChoice::MethodChoice(std::string method) : name(std::move(method)) {}
MethodChoice::MethodChoice(std::string_view method) : name(method) {}

std::string default_method() {
    for (const Method* one : methods())
        if (one->standard) return one->name;
    fail(ErrorKind::internal, "[default_method] no method is marked as the default");
}

std::vector<std::string> method_names() {
    std::vector<std::string> names;
    for (const Method* candidate : methods()) names.push_back(candidate->name);
    names.emplace_back(kAutoMethod);
    return names;
}

void check_method(std::string_view name) {
    if (name != kAutoMethod) (void)method(name);
}

std::string method_summary(std::string_view name) {
    return name == kAutoMethod ? "the method that cross-validation finds best, class by class"
                               : method(name).summary;
}

namespace {
/// The name of an option as a parameter: "kmeans_clusters".
std::string parameter_of(std::string_view flag) {
    std::string name(flag);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

const MethodOption& option_of(const Method& method, std::string_view flag) {
    for (const MethodOption& option : method.options)
        if (option.flag == flag) return option;
    fail(ErrorKind::internal, "[{}] does not declare option '{}'", method.name, flag);
}

std::string value_of(const MethodOption& option, const PartitionInput& input) {
    if (input.settings != nullptr) {
        const auto found = input.settings->text.find(option.flag);
        if (found != input.settings->text.end()) return found->second;
    }
    // Direct calls use the paper's number of regions where calibrate() would try several.
    return option.trials.empty() || option.paper.empty() ? option.standard : option.paper;
}

template <class T>
T parse(const MethodOption& option, const PartitionInput& input, T low, T high) {
    const std::string text = value_of(option, input);
    T value{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || !(value >= low && value <= high))
        fail(ErrorKind::usage, "`{}` is '{}', but must be a {} from {} to {}{}", parameter_of(option.flag),
             text, std::is_integral_v<T> ? "whole number" : "number", low, high,
             option.standard == "auto" ? ", or auto" : "");
    return value;
}
}  // namespace

std::int64_t integer_option(const Method& method, const PartitionInput& input, std::string_view flag,
                            std::int64_t low, std::int64_t high) {
    return parse<std::int64_t>(option_of(method, flag), input, low, high);
}

double real_option(const Method& method, const PartitionInput& input, std::string_view flag, double low,
                   double high) {
    return parse<double>(option_of(method, flag), input, low, high);
}

std::string text_option(const Method& method, const PartitionInput& input, std::string_view flag,
                        const std::vector<std::string>& allowed) {
    std::string value = value_of(option_of(method, flag), input);
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), value) == allowed.end())
        fail(ErrorKind::usage, "`{}` is '{}', but must be one of {}", parameter_of(flag), value,
             fmt::join(allowed, ", "));
    return value;
}

void extend_to_empty_pixels(const Grid& grid, std::span<const std::uint32_t> counts, Partition& partition) {
    const auto height = static_cast<std::int64_t>(grid.height), width = static_cast<std::int64_t>(grid.width);
    if (std::find(counts.begin(), counts.end(), 0u) == counts.end()) return;
    if (std::all_of(counts.begin(), counts.end(), [](auto n) { return n == 0; })) {
        partition.region.assign(grid.pixels(), 0);
        partition.regions = std::max(partition.regions, 1u);
        return;
    }
    // First the nearest pixel with data within each column (a sweep down and one up), then the best column
    // for each empty pixel, looking outwards until no column can be nearer.
    constexpr std::int64_t kNone = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int64_t> distance(grid.pixels(), kNone);
    std::vector<std::uint32_t> label(grid.pixels(), 0);
    const auto sweep = [&](std::int64_t x, std::int64_t from, std::int64_t to, std::int64_t step) {
        std::int64_t gap = kNone;
        std::uint32_t region = 0;
        for (std::int64_t y = from; y != to; y += step) {
            const auto p = static_cast<std::size_t>(y * width + x);
            if (counts[p] > 0)
                gap = 0, region = partition.region[p];
            else if (gap != kNone)
                ++gap;
            if (gap < distance[p] || (gap == distance[p] && gap != kNone && region < label[p]))
                distance[p] = gap, label[p] = region;
        }
    };
    for (std::int64_t x = 0; x < width; ++x) {
        sweep(x, 0, height, 1);
        sweep(x, height - 1, -1, -1);
    }
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const auto p = static_cast<std::size_t>(y * width + x);
            if (counts[p] > 0) continue;
            std::int64_t best = std::numeric_limits<std::int64_t>::max();
            std::uint32_t region = 0;
            for (std::int64_t reach = 0; reach < width && reach * reach <= best; ++reach) {
                for (const std::int64_t column : {x - reach, x + reach}) {
                    if (column < 0 || column >= width) continue;
                    const auto q = static_cast<std::size_t>(y * width + column);
                    if (distance[q] == kNone) continue;
                    const std::int64_t d = reach * reach + distance[q] * distance[q];
                    if (d < best || (d == best && label[q] < region)) best = d, region = label[q];
                }
            }
            partition.region[p] = region;
        }
    }
}

std::vector<std::uint32_t> join_empty_rings(std::span<const std::uint32_t> counts, Partition& partition) {
    std::vector<bool> holds(partition.regions, false);
    for (std::size_t p = 0; p < counts.size(); ++p)
        if (counts[p] > 0) holds[partition.region[p]] = true;
    std::vector<std::uint32_t> number(partition.regions, 0);
    std::uint32_t next = 0;
    for (std::uint32_t r = 0; r < partition.regions; ++r) {
        if (holds[r]) ++next;
        number[r] = next > 0 ? next - 1 : 0;
    }
    for (std::uint32_t& r : partition.region) r = number[r];
    partition.regions = std::max(next, 1u);
    return number;
}

}  // namespace kandinsky
