#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/fail.hpp"
#include "io/file/printable.hpp"
#include "io/json/json_outline.hpp"
#include "io/zip/zip_reader.hpp"
#include "io/zip/zip_writer.hpp"
#include "monitor/look.hpp"
#include "monitor/state.hpp"
#include "monitor/state_file.hpp"
#include "score/shortfall.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
constexpr const char* kComment = "kandinsky monitor ";
constexpr const char* kStateFormat = "kandinsky-monitor";
constexpr int kVersion = 2;  // 1: without shortfalls
constexpr std::size_t kMostMeta = std::size_t{1} << 20;

template <class T>
void put(ZipWriter& zip, const std::string& name, const std::vector<T>& values,
         const std::vector<std::size_t>& shape) {
    const DType dtype = dtype_of<T>();
    zip.add_array(name,
                  {reinterpret_cast<const std::byte*>(values.data()), dtype, shape, c_strides(shape, dtype)});
}
template <class T>
void put(ZipWriter& zip, const std::string& name, const std::vector<T>& values) {
    put(zip, name, values, {values.size()});
}

/// Reads an array of type T. If `size` is given, the array must have `size` numbers.
template <class T>
std::vector<T> take(const ZipReader& archive, const std::string& name,
                    std::optional<std::size_t> size = std::nullopt) {
    const Array array = archive.array(name);
    if (array.dtype() != dtype_of<T>() || (size && array.view().size() != *size))
        fail(ErrorKind::data, "member {} has an unexpected type or size", name);
    std::vector<T> out = array.to_vector<T>();
    if constexpr (std::is_same_v<T, double>)
        for (const double value : out)
            if (!std::isfinite(value))
                fail(ErrorKind::data, "member {} has a value that is not a number", name);
    return out;
}

std::vector<float> ascending(std::vector<float> values) {
    if (!std::is_sorted(values.begin(), values.end()) ||
        !std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
        fail(ErrorKind::data, "its values do not ascend");
    return values;
}

template <class Own>
void put_bets(std::vector<double>& to, const Own& bets) {
    to.push_back(bets.log_value);
    to.push_back(bets.asleep);
    to.insert(to.end(), bets.share.begin(), bets.share.end());
}
template <class Own>
const double* take_bets(const double* from, Own& bets) {
    bets.log_value = *from++;
    bets.asleep = *from++;
    double all = bets.asleep, least = bets.asleep;
    for (double& one : bets.share) {
        one = *from++;
        all += one;
        least = std::min(least, one);
    }
    if (!(least >= 0 && std::fabs(all - 1) < 1e-6)) fail(ErrorKind::data, "shares of bets do not add up");
    return from;
}

constexpr std::size_t kBoundNumbers = 5 + 2 * MeanBounds::kCandidates;

ordered_json alarm_json(const std::optional<Alarm>& alarm) {
    return alarm ? ordered_json{{"unit", alarm->unit}, {"what", alarm->what}} : ordered_json(nullptr);
}
std::optional<Alarm> alarm_from(const ordered_json& json, std::size_t most) {
    if (json.is_null()) return std::nullopt;
    const Alarm alarm{json.at("unit").get<std::uint64_t>(), json.at("what").get<std::size_t>()};
    if (alarm.what >= most) fail(ErrorKind::data, "an alarm is about something that is not watched");
    return alarm;
}

ordered_json group_json(const OpenGroup& group) {
    return group.open ? ordered_json{{"id", group.id}, {"images", group.images}} : ordered_json(nullptr);
}
OpenGroup group_from(const ordered_json& json, std::vector<std::int64_t> sums, std::size_t numbers) {
    OpenGroup out;
    if (json.is_null()) return out;
    out.begin(json.at("id").get<std::int64_t>(), 0);
    out.images = json.at("images").get<std::uint64_t>();
    if (sums.size() != numbers || out.images == 0) fail(ErrorKind::data, "the open group is inconsistent");
    out.sums = std::move(sums);
    return out;
}

void put_course(ZipWriter& zip, ordered_json& meta, const std::string& name, const ThinnedCurve& curve) {
    const ThinnedCurve::Storage own = curve.storage();
    meta[name] = {{"stride", own.stride}, {"filled", own.filled}};
    put(zip, name, own.values, {own.values.size() / curve.columns(), curve.columns()});
    put(zip, name + "_next", own.pending);
    put(zip, name + "_counts", own.counts);
}
void take_course(const ZipReader& archive, const ordered_json& meta, const std::string& name,
                 ThinnedCurve& curve) {
    if (!curve.restore({take<float>(archive, name), take<float>(archive, name + "_next"),
                        take<std::uint32_t>(archive, name + "_counts"),
                        meta.at(name).at("stride").get<std::uint64_t>(),
                        meta.at(name).at("filled").get<std::uint64_t>()}))
        fail(ErrorKind::data, "the course {} is inconsistent", name);
}

/// Writes the bags and their sizes. Sizes differ, because a group counts only for the classes that it has.
void put_shortfalls(ZipWriter& zip, const std::vector<ShortfallState>& states) {
    std::vector<std::uint32_t> sizes;
    std::vector<float> values;
    std::vector<double> bets, late;
    for (const ShortfallState& own : states) {
        sizes.push_back(static_cast<std::uint32_t>(own.bag.values().size()));
        values.insert(values.end(), own.bag.values().begin(), own.bag.values().end());
        put_bets(bets, own.bets);
        late.push_back(own.late_value);
    }
    put(zip, "shortfall_units", sizes);
    put(zip, "shortfalls", values);
    put(zip, "shortfall_bets", bets);
    put(zip, "shortfall_late", late);
}
void take_shortfalls(const ZipReader& archive, std::size_t most, std::vector<ShortfallState>& states) {
    const auto sizes = take<std::uint32_t>(archive, "shortfall_units", states.size());
    const auto values = take<float>(archive, "shortfalls");
    const auto bets = take<double>(archive, "shortfall_bets", states.size() * (RiseBets::kWays + 2));
    const auto late = take<double>(archive, "shortfall_late", states.size());
    if (std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) != values.size())
        fail(ErrorKind::data, "it has the wrong number of shortfalls");
    const double* bet = bets.data();
    auto from = values.begin();
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (sizes[i] > most) fail(ErrorKind::data, "it has too many shortfalls");
        states[i] = {RankBag(ascending({from, from + sizes[i]})), {}, late[i]};
        from += sizes[i];
        bet = take_bets(bet, states[i].bets);
    }
}

RecentKeys keys_from(const std::vector<std::uint64_t>& keys) {
    RecentKeys out;
    for (const std::uint64_t key : keys) out.add(key);
    return out;
}
}  // namespace

void Monitor::save(const std::filesystem::path& path) const {
    AtomicFile file(path);
    kandinsky::save(*this, file);
    file.commit();
}

/// Gives the library's own code access to the state.
struct [[gnu::visibility("hidden")]] MonitorAccess {
    using State = Monitor::State;

    [[nodiscard]] static const State& state(const Monitor& monitor) {
        return *monitor.state_;
    }
};

void save(const Monitor& monitor, AtomicFile& file) {
    const auto& state = MonitorAccess::state(monitor);
    ZipWriter zip(file);
    ordered_json meta{{"format", kStateFormat},
                      {"format_version", kVersion},
                      {"library_version", KANDINSKY_VERSION},
                      {"calibrator", fmt::format("{:016x}", state.identity)},
                      {"delta", state.options.delta},
                      {"alpha", state.options.alpha},
                      {"images", state.images},
                      {"units", state.units},
                      {"labelled_units", state.labelled_units},
                      {"set_size", std::isnan(state.late_set_size) ? ordered_json(nullptr)
                                                                   : ordered_json(state.late_set_size)},
                      {"outputs_alarm", alarm_json(state.outputs)},
                      {"labels_alarm", alarm_json(state.labels)},
                      {"odds_alarm", alarm_json(state.odds)},
                      {"open_group", group_json(state.open)},
                      {"open_labels", group_json(state.open_labels)},
                      {"open_sets", {{"sizes", state.open_set_sizes}, {"images", state.open_sets}}}};
    std::vector<float> bags;
    std::vector<double> bets, late, losses, bounds;
    for (const FeatureState& own : state.features) {
        bags.insert(bags.end(), own.bag.values().begin(), own.bag.values().end());
        put_bets(bets, own.bets);
        late.push_back(own.late_p);
        late.push_back(own.late_value);
    }
    for (const LossState& own : state.losses) {
        put_bets(losses, own.bets);
        const MeanBounds& one = own.bounds;
        for (const double number : {static_cast<double>(one.count), one.sum, one.squares, one.low, one.high})
            bounds.push_back(number);
        bounds.insert(bounds.end(), one.larger.begin(), one.larger.end());
        bounds.insert(bounds.end(), one.smaller.begin(), one.smaller.end());
    }
    put_shortfalls(zip, state.shortfalls);
    const std::size_t features = state.features.size(), classes = state.losses.size();
    put(zip, "bags", bags, {features, bags.size() / features});
    put(zip, "bets", bets, {features, bets.size() / features});
    put(zip, "late", late, {features, 2});
    put(zip, "loss_bets", losses, {classes, losses.size() / classes});
    put(zip, "loss_bounds", bounds, {classes, kBoundNumbers});
    put(zip, "open_sums", state.open.open ? state.open.sums : std::vector<std::int64_t>{});
    put(zip, "open_label_sums",
        state.open_labels.open ? state.open_labels.sums : std::vector<std::int64_t>{});
    put(zip, "seen", state.seen.keys());
    put(zip, "seen_labels", state.seen_labels.keys());
    put(zip, "judged", state.judged.keys());
    put(zip, "judged_labels", state.judged_labels.keys());
    put_course(zip, meta, "outputs_course", state.outputs_course);
    put_course(zip, meta, "labels_course", state.labels_course);
    const std::string text = meta.dump(2) + "\n";
    zip.add("meta.json", std::as_bytes(std::span(text)));
    zip.finish(kComment, true);
}

Monitor::Monitor(const Calibrator& calibrator, const Reference& reference,
                 const std::filesystem::path& path) {
    const std::string name = printable(path.string(), 4096);
    const ZipReader archive(path);
    if (!archive.comment().starts_with(kComment) || !archive.has("meta.json"))
        fail(ErrorKind::data, "{} is not the state of a monitor", name);
    for (const ZipReader::Member& member : archive.members())
        if (member.name == "meta.json" && member.size > kMostMeta)
            fail(ErrorKind::data, "{}: meta.json is too large", name);
    const Array bytes = archive.bytes("meta.json");
    const char* const begin = bytes.data_as<char>();
    if (nests_deeper({begin, bytes.view().size()}))
        fail(ErrorKind::data, "{}: meta.json nests deeper than {}", name, kJsonDepth);
    const auto meta = ordered_json::parse(begin, begin + bytes.view().size(), nullptr, false);
    if (meta.is_discarded() || !meta.is_object() || meta.value("format", ordered_json()) != kStateFormat)
        fail(ErrorKind::data, "{} is not the state of a monitor", name);
    try {
        const auto version = meta.at("format_version").get<std::int64_t>();
        if (version > kVersion) fail(ErrorKind::data, "it was written by a newer version; update kandinsky");
        if (!archive.checksum_ok()) fail(ErrorKind::data, "its checksum does not match");
        const MonitorOptions options{meta.at("delta").get<double>(), meta.at("alpha").get<double>()};
        state_ = std::make_unique<State>(calibrator, reference, options);
        State& state = *state_;
        if (meta.at("calibrator").get<std::string>() != fmt::format("{:016x}", state.identity))
            fail(ErrorKind::data, "it belongs to another calibrator; begin a new state for this one");
        state.images = meta.at("images").get<std::uint64_t>();
        state.units = meta.at("units").get<std::uint64_t>();
        state.labelled_units = meta.at("labelled_units").get<std::uint64_t>();
        if (!meta.at("set_size").is_null()) state.late_set_size = meta.at("set_size").get<double>();
        const std::size_t features = state.features.size(), classes = state.losses.size();
        state.outputs = alarm_from(meta.at("outputs_alarm"), features);
        state.labels = alarm_from(meta.at("labels_alarm"), classes);
        state.open = group_from(meta.at("open_group"), take<std::int64_t>(archive, "open_sums"), features);
        const std::size_t numbers = label_numbers(*state.layout, classes);
        auto sums = take<std::int64_t>(archive, "open_label_sums");
        if (version < 2 && sums.size() == 2 * classes) sums.resize(numbers);  // no shortfalls so far
        state.open_labels = group_from(meta.at("open_labels"), std::move(sums), numbers);
        if (version >= 2) {
            state.odds = alarm_from(meta.at("odds_alarm"), classes);
            take_shortfalls(archive, most_shortfalls(classes), state.shortfalls);
        }
        state.open_set_sizes = meta.at("open_sets").at("sizes").get<double>();
        state.open_sets = meta.at("open_sets").at("images").get<std::uint64_t>();

        const auto bags = take<float>(archive, "bags");
        const std::size_t kept = bags.size() / features;
        if (bags.size() % features != 0 || kept == 0 || kept > state.most_kept)
            fail(ErrorKind::data, "it has the wrong number of values");
        const auto bets = take<double>(archive, "bets", features * (Bets::kWays + 2));
        const auto late = take<double>(archive, "late", features * 2);
        const double* from = bets.data();
        for (std::size_t f = 0; f < features; ++f) {
            const auto first = bags.begin() + static_cast<std::ptrdiff_t>(f * kept);
            state.features[f].bag = RankBag(ascending({first, first + static_cast<std::ptrdiff_t>(kept)}));
            from = take_bets(from, state.features[f].bets);
            state.features[f].late_p = late[2 * f];
            state.features[f].late_value = late[2 * f + 1];
        }
        const auto losses = take<double>(archive, "loss_bets", classes * (LossBets::kWays + 2));
        const auto bounds = take<double>(archive, "loss_bounds", classes * kBoundNumbers);
        from = losses.data();
        const double* bound = bounds.data();
        for (LossState& own : state.losses) {
            from = take_bets(from, own.bets);
            if (!(bound[0] >= 0 && bound[0] < 0x1.0p53)) fail(ErrorKind::data, "a count is invalid");
            own.bounds.count = static_cast<std::uint64_t>(bound[0]);
            own.bounds.sum = bound[1], own.bounds.squares = bound[2];
            own.bounds.low = bound[3], own.bounds.high = bound[4];
            bound += 5;
            std::copy_n(bound, MeanBounds::kCandidates, own.bounds.larger.begin());
            std::copy_n(bound + MeanBounds::kCandidates, MeanBounds::kCandidates, own.bounds.smaller.begin());
            bound += 2 * MeanBounds::kCandidates;
        }
        state.seen = keys_from(take<std::uint64_t>(archive, "seen"));
        state.seen_labels = keys_from(take<std::uint64_t>(archive, "seen_labels"));
        state.judged = keys_from(take<std::uint64_t>(archive, "judged"));
        state.judged_labels = keys_from(take<std::uint64_t>(archive, "judged_labels"));
        take_course(archive, meta, "outputs_course", state.outputs_course);
        take_course(archive, meta, "labels_course", state.labels_course);
    } catch (const nlohmann::json::exception& problem) {
        fail(ErrorKind::data, "{}: meta.json is damaged ({})", name, printable(problem.what()));
    } catch (const Error& problem) {
        if (problem.kind() != ErrorKind::data) throw;
        fail(ErrorKind::data, "{} cannot be used: {}", name, problem.what());
    }
}

}  // namespace kandinsky
