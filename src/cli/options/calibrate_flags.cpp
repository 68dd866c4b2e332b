#include "cli/options/calibrate_flags.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/options/words.hpp"
#include "core/base/fail.hpp"
#include "report/table/predicted_text.hpp"
#include "report/table/risk_text.hpp"

namespace kandinsky::cli {

namespace {
constexpr std::uint64_t kFewGroups = 10;  // fewer cause a warning; alpha = 0.1 needs at least 9
constexpr std::size_t kLeastMemory = std::size_t{1} << 20;

/// The default of --memory. More memory saves passes over the data only for tens of thousands of images.
std::size_t standard_memory() {
    const auto machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::clamp(machine / 4, kLeastMemory, std::size_t{1} << 30);
}
}  // namespace

bool CalibrateFlags::some(const Counts& counts) const {
    const CalibrateOptions shared = options();
    const std::vector<std::string> asked = asked_ ? asked_() : std::vector{shared.method.name};
    return std::any_of(asked.begin(), asked.end(), [&](const std::string& name) {
        CalibrateOptions one = shared;
        const std::size_t colon = name.find(':');
        one.method.name = name.substr(0, colon);
        check_method(one.method.name);
        if (colon != std::string::npos) one.score.kind = score_kind(name.substr(colon + 1));
        return counts(one, one.method.name == kAutoMethod ? nullptr : &kandinsky::method(one.method.name));
    });
}

void CalibrateFlags::declare_effects(OptionSet& app) const {
    const auto rule = [&](const char* flag, Counts counts, const char* why) {
        app.counts_unless(flag,
                          [this, counts = std::move(counts), why] { return unless(some(counts), why); });
    };
    const auto score_is = [](ScoreKind kind) -> Counts {
        return [kind](const CalibrateOptions& one, const Method*) { return one.score.kind == kind; };
    };
    const Counts has_regions = [](const CalibrateOptions&, const Method* how) { return !how || how->fit; };
    const Counts learns = [](const CalibrateOptions& one, const Method* how) {
        return !how || how->uses_labels || one.adapt == Adapt::image;
    };
    const Counts not_released = [](const CalibrateOptions& one, const Method*) { return !one.released; };
    constexpr const char* kReleased = "--compat released reproduces code without this choice";
    for (const char* const flag : {"--raps-lambda", "--raps-kreg"})
        rule(flag, score_is(ScoreKind::raps), "it is for --score raps");
    rule("--saps-weight", score_is(ScoreKind::saps), "it is for --score saps");
    rule(
        "--quantiles", [](const CalibrateOptions&, const Method* how) { return !how || how->uses_features; },
        "the method does not compare the pixels' curves");
    rule("--rungs", not_released, kReleased);
    rule(
        "--pooling",
        [](const CalibrateOptions& one, const Method*) {
            return !one.released || one.pooling == Pooling::pixels;
        },
        kReleased);
    for (const char* const flag : {"--fallback", "--min-count"}) {
        rule(flag, not_released, kReleased);
        rule(flag, has_regions, "the method has no regions that could fall back");
    }
    rule(
        "--min-count",
        [](const CalibrateOptions& one, const Method*) {
            return one.fallback == Fallback::image ||
                   (one.fallback == Fallback::automatic && one.pooling == Pooling::pixels);
        },
        "no region falls back; add --fallback image");
    rule(
        "--adapt",
        [](const CalibrateOptions& one, const Method* how) {
            return one.adapt == Adapt::none || how != nullptr;
        },
        "it needs a given method, not auto");
    // With a confidence, all methods with more than one region also learn nested sets.
    const Counts divides = [learns](const CalibrateOptions& one, const Method* how) {
        return learns(one, how) ||
               (one.confidence > 0 && (how->pixelwise || !how->options.empty() || one.risk != Risk::recall));
    };
    app.counts_unless("--risk", [this] {
        return unless(!asked_ || risk == "recall",
                      "comparisons measure coverage, which is the recall; use calibrate and evaluate");
    });
    for (const char* const flag : {"--split", "--promise"})
        rule(flag, divides, "the method learns nothing from the images, so all of them set thresholds");
}

void CalibrateFlags::declare(OptionSet& app, std::function<std::vector<std::string>()> asked) {
    app_ = &app;
    asked_ = std::move(asked);
    app.add_option("--preset", preset,
                   "'paper': the paper's settings of every method, score lac and pooling by pixels; options "
                   "that are given still apply");
    app.add_option("--condition", condition,
                   "'class': one curve per class; 'none': one curve for all classes");
    app.add_option("--pooling", pooling,
                   "unit of equal weight in a region: 'groups' (with a guarantee) or 'pixels' (the paper's; "
                   "no guarantee)");
    app.add_option(
        "--fallback", fallback,
        "curve of regions with too few scores: 'none' (their own; without scores the class is in every set), "
        "'image' (the image-wide curve) or 'auto' (image with --pooling pixels, else none)");
    app.add_option("--min-count", min_count, "number of scores below which a region uses --fallback");
    app.add_option("--score", score, "non-conformity score: near, lac, aps, raps, saps or margin");
    app.add_flag("--randomized", score_options.randomized,
                 "randomize scores aps, raps and saps: subtract a random share of the class's own part "
                 "(drawn by --seed)");
    app.add_option("--raps-lambda", score_options.raps_lambda,
                   "penalty of score raps for each rank beyond --raps-kreg");
    app.add_option("--raps-kreg", score_options.raps_kreg, "rank beyond which score raps adds its penalty");
    app.add_option("--saps-weight", score_options.saps_weight,
                   "weight of each rank below the first in score saps");
    app.add_option("--quantiles", quantiles,
                   "quantiles at which methods compare curves, separated by commas");
    app.add_option(
        "--rungs", rungs,
        "number of levels at which long curves are stored (0: 2000, or 200 for more than 1024 curves)");
    app.add_option("--promise", promise,
                   "rule of the guarantee: 'loo' (every group learns and sets thresholds; learning is "
                   "repeated without each group), 'split' (some groups learn, the others set thresholds), "
                   "'none' (no guarantee), or 'auto': none with --pooling pixels; else loo for at most 200 "
                   "groups (method field and, with --adapt image, methods image, pixel and mask) or 20 "
                   "groups (other methods), and split for more groups");
    app.add_option("--adapt", adapt,
                   "'image': thresholds depend on how uncertain the model is about the image; 'none': all "
                   "images have the same thresholds");
    app.add_option(
        "--split", split,
        "share of the groups that learns with --promise split (0: chosen by the number of groups)");
    app.add_option(
        "--confidence", confidence,
        "confidence, such as 0.95, with which the guarantee holds over draws of calibration groups (0: on "
        "average over them); a quarter of the groups learns unless --split is given");
    app.add_option("--risk", risk,
                   "risk that alpha bounds: 'recall' (share of a class's pixels whose set misses it), "
                   "'precision' (share of the pixels with the class in their set that have another label) or "
                   "'recall,precision'; precision needs --confidence");
    app.add_option("--compat", compat, "'released': reproduce the authors' released code");
    app.add_option("--seed", seed, "seed of all random numbers");
    app.add_option(
        "--memory", memory,
        "working memory in bytes besides the result, such as 2G; less memory means more passes over the data "
        "and the same result (default: a quarter of the machine's memory, at most 1G)");
    for (const Method* candidate : kandinsky::methods())
        for (const MethodOption& option : candidate->options) {
            std::string& value = method_options[option.flag];
            value = option.standard;
            auto* declared =
                app.add_option("--" + option.flag, value, option.help)->group("Method " + candidate->name);
            if (option.type == MethodOption::Type::array) app.mark_input(declared->type_name("FILE"));
            app.counts_unless(declared, [this, candidate, array = option.type == MethodOption::Type::array] {
                const Counts counts = [&](const CalibrateOptions&, const Method* how) {
                    return how == candidate || (how == nullptr && !array);
                };
                return unless(some(counts),
                              fmt::format("it is for method {}, which is not used", candidate->name));
            });
        }
    declare_effects(app);
}

CalibrateOptions CalibrateFlags::options() const {
    CalibrateOptions options;
    options.method.name = method;
    options.condition = condition_of(condition);
    options.pooling = pooling_of(pooling);
    options.fallback = fallback_of(fallback);
    options.score = score_options;
    options.score.kind = score_kind(score);
    check_score(options.score);
    options.min_count = min_count;
    options.quantiles = parse_reals(quantiles, "--quantiles");
    options.rungs = rungs;
    options.split = split;
    options.promise = promise_of(promise);
    options.adapt = adapt_of(adapt);
    options.confidence = confidence;
    options.risk = risk_of(risk);
    if (split > 0 && given("promise") && options.promise != Promise::split)
        fail(ErrorKind::usage, "--split {} means --promise split, but --promise is {}", split, promise);
    options.seed = seed;
    options.released = !says("--compat", compat, "none", "released");
    if (options.released && given("score") && options.score.kind != ScoreKind::lac)
        fail(ErrorKind::usage, "--compat released has the score lac only, but --score is {}", score);
    options.memory = memory.empty() && !given("memory") ? standard_memory() : parse_bytes(memory, "--memory");
    if (options.memory < kLeastMemory)
        fail(ErrorKind::usage, "--memory is '{}', but at least 1M is needed", memory);
    (void)says("--preset", preset, "none", "paper");
    for (const Method* candidate : kandinsky::methods())
        for (const MethodOption& option : candidate->options) {
            const std::string& value = method_options.at(option.flag);
            // An explicit "auto" is passed on, because it may have an effect that the default does not have.
            const bool said = given(option.flag) && (paper() || !option.trials.empty());
            if (value == option.standard && !said) continue;
            if (option.type == MethodOption::Type::array)
                options.method.settings.arrays[option.flag] = load_array(value, {});
            else
                options.method.settings.text[option.flag] = value;
        }
    if (paper()) {
        const CalibrateOptions asked = options;
        options = paper_settings(std::move(options));
        if (given("score")) options.score = asked.score;
        if (given("pooling")) options.pooling = asked.pooling;
        if (!given("promise") && split == 0) options.promise = Promise::none;
        if (given("fallback")) options.fallback = asked.fallback;
        // The paper has no cross-validation; its k-means is used if no method is named.
        const bool named = app_->get_option_no_throw("--method") != nullptr && given("method");
        if (!named || options.method.name == kAutoMethod) options.method.name = "kmeans";
    }
    return options;
}

std::vector<std::string> remarks(const Calibrator& calibrator) {
    if (calibrator.options.confidence > 0) return confidence_remarks(calibrator);
    std::vector<std::size_t> unseen, rare;
    double low = 1, high = 0;
    const std::size_t pixels = calibrator.grid.pixels();
    const std::uint64_t setting = level_groups(calibrator);
    const char* units = calibrator.grouped ? "groups" : "images";
    for (std::size_t s = 0; s < calibrator.strata(); ++s) {
        const auto first = calibrator.counts.begin() + static_cast<std::ptrdiff_t>(s * pixels);
        if (std::all_of(first, first + static_cast<std::ptrdiff_t>(pixels),
                        [](std::uint32_t n) { return n == 0; })) {
            unseen.push_back(s);
        } else if (const double least = least_alpha(calibrator, s);
                   calibrator.strata() > 1 && !calibrator.options.released &&
                   (setting >= kFewGroups ? least > 1.0 / (kFewGroups + 0.5) : least >= 1 && setting > 1)) {
            rare.push_back(s);
            low = std::min(low, least), high = std::max(high, least);
        }
    }
    const auto named = [&](const std::vector<std::size_t>& those, const char* one, const char* several) {
        constexpr std::size_t kMost = 12;  // numbers that fit into a line
        const std::size_t shown = those.size() > kMost ? kMost : those.size();
        return fmt::format("{} {}{} {}", those.size() == 1 ? "class" : "classes",
                           fmt::join(those.begin(), those.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                           shown < those.size()
                               ? fmt::format(" and {} more of {}", those.size() - shown, calibrator.strata())
                               : "",
                           those.size() == 1 ? one : several);
    };
    std::vector<std::string> out;
    if (!unseen.empty()) {
        // A mask of 0 and 255 uses the ignored label 255 for its foreground.
        const bool ignores = std::count(calibrator.ignore.begin(), calibrator.ignore.end(), 255) > 0;
        out.push_back(named(unseen,
                            "has no pixel in the calibration labels, so it is in every prediction set",
                            "have no pixel in the calibration labels, so they are in every prediction set") +
                      (calibrator.classes == 2 && unseen.back() == 1 && ignores
                           ? "; label 255 is ignored: if these are masks of 0 and 255, divide them by 255"
                           : ""));
    }
    if (!rare.empty()) {
        const bool renewed = calibrator.renewal.groups > 0;
        const std::string where =
            renewed ? fmt::format("too few calibration {0} at any place or too few of the {1} new {0}", units,
                                  setting)
                    : fmt::format("few calibration {} at any place", units);
        out.push_back(fmt::format(
            "{} {}, and below alpha = {:.3f}{} {} in every set; {} on more that have {}{}",
            named(rare, "has", "have"), where, low, high > low ? fmt::format(" to {:.3f}", high) : "",
            rare.size() == 1 ? "it is" : "they are", renewed ? "calibrate or recalibrate" : "calibrate",
            rare.size() == 1 ? "it" : "them",
            renewed ? "" : ", or use a method that shares scores among more pixels"));
    }
    if (const Weighting& own = calibrator.weighting; own.at_infinity > 1.0 / (kFewGroups + 0.5))
        out.push_back(fmt::format(
            "below alpha = {:.3f} every class is in every set, because this share of the weight is at "
            "infinity; calibrate on more images like the new ones, or clip weights with a smaller "
            "--max-weight",
            own.at_infinity));
    if (setting < kFewGroups && calibrator.options.pooling == Pooling::groups)
        out.push_back(fmt::format(
            "only {} calibration {}{} set{} the thresholds: below alpha = {:.3f} every class is in every set",
            setting, calibrator.grouped ? "group" : "image", setting == 1 ? "" : "s", setting == 1 ? "s" : "",
            1.0 / static_cast<double>(setting + 1)));
    return out;
}

std::string calibrated_text(const Calibrator& calibrator, const std::string& output, double seconds) {
    std::uint64_t regions = 0;
    std::uint32_t side = 0;
    for (std::size_t s = 0; s < calibrator.strata(); ++s)
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s);
            smooth != nullptr && !smooth->by_regions())
            side = smooth->side();
        else
            regions += calibrator.partitions[s].regions;
    const std::string shared =
        regions > 0 ? fmt::format("{} regions", regions) : fmt::format("cells of {} x {} pixels", side, side);
    const std::string weights = weights_rule(calibrator);
    return fmt::format("{}: {} on {} images{}, {} classes, {}, {:.1f} s\n{}{}\n", output,
                       calibrator.options.method.name, calibrator.images,
                       calibrator.grouped ? fmt::format(" of {} groups", calibrator.groups) : "",
                       calibrator.classes, shared, seconds,
                       weights.empty() ? "" : fmt::format("Weights {}.\n", weights), guarantee(calibrator));
}

}  // namespace kandinsky::cli
