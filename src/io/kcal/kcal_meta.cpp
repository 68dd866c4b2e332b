#include "curve/curve_storage.hpp"
#include "io/kcal/kcal.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/fail.hpp"
#include "core/kernel/hash.hpp"
#include "io/file/printable.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
// Version 3 added levels that follow images and smooth curves by region. Version 4 added a confidence,
// weights and recalibrated levels. Version 5 added the step of levels that follow images, version 6 more
// features of images.
constexpr int kPlainVersion = 2, kAdaptVersion = 3, kRiskVersion = 4, kStepVersion = 5;

/// The oldest version of the format that can store this calibrator.
int version_for(const Calibrator& calibrator) {
    if (stored_features(calibrator) > ImageFeatures::kBasic) return kKcalVersion;
    for (const Adaptation& own : calibrator.adaptations)
        if (!own.empty() && own.step() != 1) return kStepVersion;
    if (calibrator.options.confidence > 0 || !calibrator.weighting.none() || !calibrator.renewal.none())
        return kRiskVersion;
    bool regions = false;  // of smooth curves
    for (const SmoothCurves& curves : calibrator.smooth)
        regions = regions || !storage_of(curves).region.empty();
    return calibrator.adapts() || regions ? kAdaptVersion : kPlainVersion;
}

std::string print_of(const std::array<std::uint64_t, 2>& fingerprint) {
    return fmt::format("{:016x}{:016x}", fingerprint[0], fingerprint[1]);
}

std::array<std::uint64_t, 2> print_from(const ordered_json& data) {
    const auto print = data.at("fingerprint").get<std::string>();
    std::array<std::uint64_t, 2> out{};
    bool good = print.size() == 32;
    for (std::size_t half = 0; half < 2 && good; ++half) {
        const char* const from = print.data() + 16 * half;
        const auto [end, status] = std::from_chars(from, from + 16, out[half], 16);
        good = status == std::errc() && end == from + 16;
    }
    if (!good) fail(ErrorKind::data, "the fingerprint is damaged");
    return out;
}

constexpr const char* kLogits[] = {"none", "sigmoid", "softmax"};  // in the order of Logits

/// The parameters of a score; null if it has none.
ordered_json score_settings(const ScoreOptions& score) {
    ordered_json out;
    if (score.kind == ScoreKind::raps) out = {{"lambda", score.raps_lambda}, {"kreg", score.raps_kreg}};
    if (score.kind == ScoreKind::saps) out = {{"weight", score.saps_weight}};
    if (score.randomized) {
        out["randomized"] = true;
        out["seed"] = score.seed;
    }
    return out;
}

void read_score(const ordered_json& options, ScoreOptions& to) {
    to.kind = score_kind(options.at("score").get<std::string>());
    to.half = options.at("half_precision").get<bool>();
    const ordered_json settings = options.value("score_options", ordered_json::object());
    to.raps_lambda = settings.value("lambda", to.raps_lambda);
    to.raps_kreg = settings.value("kreg", to.raps_kreg);
    to.saps_weight = settings.value("weight", to.saps_weight);
    to.randomized = settings.value("randomized", false);
    to.seed = settings.value("seed", std::uint64_t{0});
    check_score(to);
}

ordered_json settings_json(const std::map<std::string, std::string>& settings) {
    ordered_json out = ordered_json::object();
    for (const auto& [flag, value] : settings) out[flag] = value;
    return out;
}

ordered_json choice_json(const Choice& choice) {
    ordered_json judged = ordered_json::array();
    for (const JudgedMethod& one : choice.judged)
        judged.push_back({{"method", one.method},
                          {"options", settings_json(one.tuned)},
                          {"loss", choice.folds > 0 ? ordered_json(one.loss) : ordered_json(nullptr)}});
    return {{"options", settings_json(choice.tuned)},
            {"reason", choice.reason},
            {"folds", choice.folds},
            {"judged", judged}};
}

std::map<std::string, std::string> settings_from(const ordered_json& json) {
    std::map<std::string, std::string> settings;
    for (const auto& [flag, value] : json.items()) settings[flag] = value.get<std::string>();
    return settings;
}

Choice choice_from(const ordered_json& stratum) {
    const ordered_json& json = stratum.at("choice");
    Choice choice;
    choice.method = stratum.at("method").get<std::string>();
    choice.tuned = settings_from(json.at("options"));
    choice.reason = json.at("reason").get<std::string>();
    choice.folds = json.at("folds").get<std::size_t>();
    for (const ordered_json& one : json.at("judged"))
        choice.judged.push_back({one.at("method").get<std::string>(), settings_from(one.at("options")),
                                 one.at("loss").is_null() ? 0.0 : one.at("loss").get<double>()});
    return choice;
}

std::optional<SmoothStorage> smooth_from(const ordered_json& stratum) {
    const auto smooth = stratum.find("smooth");
    if (smooth == stratum.end()) return std::nullopt;
    SmoothStorage storage;
    storage.side = smooth->at("cell").get<std::uint32_t>();
    const auto bins = smooth->at("bins").get<std::size_t>();
    if (bins > 256) fail(ErrorKind::data, "a stratum has {} bins, but at most 256 are possible", bins);
    storage.edges.resize(bins);  // the reader fills them
    storage.origin = smooth->at("origin").get<std::int32_t>();
    storage.largest = smooth->at("largest").get<float>();
    storage.scores = smooth->at("scores").get<std::uint64_t>();
    storage.groups = smooth->at("groups").get<std::uint64_t>();
    if (smooth->value("by_region", false)) storage.region.resize(1);  // the reader fills them
    return storage;
}
}  // namespace

ordered_json meta_of(const Calibrator& calibrator) {
    const CalibrateOptions& options = calibrator.options;
    ordered_json strata = ordered_json::array();
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        strata.push_back({{"regions", calibrator.partitions[s].regions},
                          {"geometry", ordered_json::parse(calibrator.partitions[s].geometry)}});
        if (const SmoothCurves* const curves = calibrator.smooth_of(s)) {
            const SmoothStorage& smooth = storage_of(*curves);
            strata.back()["smooth"] = {{"cell", smooth.side},     {"bins", smooth.edges.size()},
                                       {"origin", smooth.origin}, {"largest", smooth.largest},
                                       {"scores", smooth.scores}, {"groups", smooth.groups}};
            if (!smooth.region.empty()) strata.back()["smooth"]["by_region"] = true;
        }
        if (calibrator.choices.empty()) continue;
        strata.back()["method"] = calibrator.choices[s].method;
        strata.back()["choice"] = choice_json(calibrator.choices[s]);
    }
    ordered_json meta{
        {"format", "kcal"},
        {"format_version", version_for(calibrator)},
        {"library_version", calibrator.version},
        {"method", options.method.name},
        {"guarantee", guarantee(calibrator)},
        {"options",
         {{"condition", name_of(options.condition)},
          {"score", name_of(options.score.kind)},
          {"half_precision", options.score.half},
          {"pooling", name_of(options.pooling)},
          {"fallback", name_of(options.fallback)},
          {"min_count", options.min_count},
          {"quantiles", options.quantiles},
          {"rungs", options.rungs},
          {"split", options.split},
          {"compat", options.released ? "released" : "none"},
          {"seed", options.seed},
          {"method_options", settings_json(options.method.settings.text)}}},
        {"data",
         {{"images", calibrator.images},
          {"groups", calibrator.groups},
          {"grouped", calibrator.grouped},
          {"classes", calibrator.classes},
          {"height", calibrator.grid.height},
          {"width", calibrator.grid.width},
          {"fingerprint", print_of(calibrator.fingerprint)}}},
        {"strata", strata},
    };
    const ordered_json score = score_settings(options.score);
    if (!score.is_null()) meta["options"]["score_options"] = score;
    if (options.sketch > 0)
        meta["options"]["sketch"] = {{"asked", options.sketch}, {"error", calibrator.sketch_error}};
    meta["options"]["promise"] = name_of(options.promise);
    if (options.confidence > 0) {
        meta["options"]["confidence"] = options.confidence;
        meta["options"]["risk"] = name_of(options.risk);
    }
    if (calibrator.masks) meta["data"]["masks"] = true;
    if (options.adapt != Adapt::none) meta["options"]["adapt"] = name_of(options.adapt);
    if (calibrator.classless) meta["data"]["classless"] = true;
    if (calibrator.logits != Logits::none)
        meta["data"]["logits"] = kLogits[static_cast<std::size_t>(calibrator.logits)];
    if (calibrator.ignore != Calibrator().ignore) meta["data"]["ignore"] = calibrator.ignore;
    if (!calibrator.input.empty()) meta["input"] = ordered_json::parse(calibrator.input);
    if (const Weighting& own = calibrator.weighting; !own.none()) {
        meta["weights"] = {{"groups", own.groups},
                           {"effective_groups", own.effective},
                           {"at_infinity", own.at_infinity},
                           {"least", own.least}};
        if (!own.learnt.empty()) meta["weights"]["learnt"] = ordered_json::parse(own.learnt);
    }
    if (const Renewal& own = calibrator.renewal; !own.none())
        meta["levels"] = {{"images", own.images},
                          {"groups", own.groups},
                          {"grouped", own.grouped},
                          {"fingerprint", print_of(own.fingerprint)}};
    return meta;
}

StoredMeta from_meta(const ordered_json& meta, const std::string& name) {
    const auto format = meta.is_object() ? meta.find("format") : meta.end();
    if (!meta.is_object() || format == meta.end() || *format != "kcal")
        fail(ErrorKind::data, "{} is not a calibrator: its meta.json has no format kcal", name);
    const auto number = meta.find("format_version");
    if (number == meta.end() || !number->is_number_integer() || number->get<std::int64_t>() < 1)
        fail(ErrorKind::data, "{} has no usable format version", name);
    const auto version = number->get<std::int64_t>();
    if (version > kKcalVersion)
        fail(ErrorKind::data, "{} has format version {}, but this program reads up to {}; update kandinsky",
             name, version, kKcalVersion);
    try {
        StoredMeta out;
        Calibrator& calibrator = out.calibrator;
        const ordered_json& options = meta.at("options");
        CalibrateOptions& to = calibrator.options;
        to.method.name = meta.at("method").get<std::string>();
        to.condition = condition_of(options.at("condition").get<std::string>());
        read_score(options, to.score);
        to.pooling = pooling_of(options.at("pooling").get<std::string>());
        to.fallback = fallback_of(options.at("fallback").get<std::string>());
        if (to.fallback == Fallback::automatic)
            fail(ErrorKind::data, "the fallback is 'auto', but must be none or image");
        to.min_count = options.at("min_count").get<std::uint64_t>();
        to.quantiles = options.at("quantiles").get<std::vector<double>>();
        to.rungs = options.at("rungs").get<std::size_t>();
        to.split = options.at("split").get<double>();
        to.adapt = adapt_of(options.value("adapt", "none"));
        to.promise = to.split > 0 ? Promise::split : promise_of(options.value("promise", "none"));
        to.confidence = options.value("confidence", 0.0);
        to.risk = risk_of(options.value("risk", "recall"));
        if (!(to.confidence >= 0 && to.confidence < 1))
            fail(ErrorKind::data, "the confidence is {}, but must lie between 0 and 1", to.confidence);
        to.released = options.at("compat").get<std::string>() == "released";
        to.seed = options.at("seed").get<std::uint64_t>();
        to.method.settings.text = settings_from(options.at("method_options"));
        if (const auto sketch = options.find("sketch"); sketch != options.end()) {
            to.sketch = sketch->at("asked").get<double>();
            calibrator.sketch_error = sketch->at("error").get<double>();
        }

        if (const auto input = meta.find("input"); input != meta.end()) calibrator.input = input->dump();
        const ordered_json& data = meta.at("data");
        calibrator.version = meta.at("library_version").get<std::string>();
        calibrator.images = data.at("images").get<std::uint64_t>();
        calibrator.groups = data.at("groups").get<std::uint64_t>();
        calibrator.grouped = data.at("grouped").get<bool>();
        calibrator.masks = data.value("masks", false);
        calibrator.classless = data.value("classless", false);
        const auto* logits =
            std::find(std::begin(kLogits), std::end(kLogits), data.value("logits", std::string("none")));
        if (logits == std::end(kLogits)) fail(ErrorKind::data, "the kind of logits is unknown");
        calibrator.logits = static_cast<Logits>(logits - kLogits);
        calibrator.ignore = data.value("ignore", calibrator.ignore);
        calibrator.reading_known = options.contains("promise");  // version 0.1 wrote no logits and no ignore
        calibrator.classes = data.at("classes").get<std::size_t>();
        calibrator.grid = {data.at("height").get<std::uint32_t>(), data.at("width").get<std::uint32_t>()};
        calibrator.fingerprint = print_from(data);
        if (const auto weights = meta.find("weights"); weights != meta.end()) {
            Weighting& own = calibrator.weighting;
            own.groups = weights->at("groups").get<std::uint64_t>();
            own.effective = weights->at("effective_groups").get<double>();
            own.at_infinity = weights->at("at_infinity").get<double>();
            own.least = weights->at("least").get<double>();
            if (weights->contains("learnt")) own.learnt = weights->at("learnt").dump();
        }
        if (const auto levels = meta.find("levels"); levels != meta.end())
            calibrator.renewal = {.images = levels->at("images").get<std::uint64_t>(),
                                  .groups = levels->at("groups").get<std::uint64_t>(),
                                  .grouped = levels->at("grouped").get<bool>(),
                                  .fingerprint = print_from(*levels)};
        for (const ordered_json& stratum : meta.at("strata")) {
            Partition partition;
            partition.regions = stratum.at("regions").get<std::uint32_t>();
            const ordered_json& geometry = stratum.at("geometry");
            if (!geometry.is_object()) fail(ErrorKind::data, "the geometry of a stratum is not an object");
            partition.geometry = geometry.dump();
            calibrator.partitions.push_back(std::move(partition));
            out.smooth.push_back(smooth_from(stratum));
            if (stratum.contains("choice")) calibrator.choices.push_back(choice_from(stratum));
        }
        const std::size_t strata = to.condition == Condition::by_class ? calibrator.classes : 1;
        if (calibrator.classes < 2 || calibrator.classes > 4096 || calibrator.partitions.size() != strata ||
            (!calibrator.choices.empty() && calibrator.choices.size() != strata) ||
            calibrator.grid.pixels() == 0)
            fail(ErrorKind::data, "classes, strata and grid of meta.json do not fit together");
        return out;
    } catch (const nlohmann::ordered_json::exception& problem) {
        fail(ErrorKind::data, "{}: meta.json is damaged ({})", name, printable(problem.what()));
    } catch (const Error& problem) {
        // The message may quote the file.
        fail(ErrorKind::data, "{}: {}", name, printable(problem.what(), 400));
    }
}

std::string describe(const Calibrator& calibrator) {
    return meta_of(calibrator).dump(2);
}

std::string identity_text(const Calibrator& calibrator) {
    ordered_json meta = meta_of(calibrator);
    for (const char* const name : {"guarantee", "library_version", "format_version"}) meta.erase(name);
    return meta.dump();
}

std::string identity_of(const Calibrator& calibrator) {
    const std::string text = identity_text(calibrator);
    return fmt::format("{:016x}", hash_bytes(text.data(), text.size(), 0));
}

}  // namespace kandinsky
