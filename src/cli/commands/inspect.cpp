#include <algorithm>
#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/reference.hpp>

#include "calibrate/confidence.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/shared_flags.hpp"
#include "core/base/fail.hpp"
#include "io/kcal/kcal.hpp"
#include "report/table/predicted_text.hpp"
#include "report/table/risk_text.hpp"
#include "report/table/table.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    std::string calibrator;
    double alpha = 0.1;
    bool json = false;
};

constexpr std::size_t kMostRows = 20;   // largest number of rows of a table
constexpr std::ptrdiff_t kScreen = 40;  // lines

std::string text_of(const nlohmann::ordered_json& item) {
    return item.is_number_float() ? fmt::format("{:.6g}", item.get<double>()) : item.dump();
}

/// The entries of a flat list; numbers that are not whole have at most six digits.
std::string row_of(const nlohmann::ordered_json& list) {
    std::string out;
    for (const auto& item : list) out += (out.empty() ? "" : " ") + text_of(item);
    return out;
}

/// A geometry as text: a line for each entry, and a line for each row of a table. Logs, lists of objects and
/// entries with more than 512 numbers are replaced by their length.
std::string brief(const nlohmann::ordered_json& geometry) {
    constexpr std::size_t kMost = 512;
    std::string out;
    for (const auto& [key, item] : geometry.items()) {
        const bool table = item.is_array() && !item.empty() && item.front().is_array();
        const bool list = item.is_array() && !table;
        const std::size_t numbers = table             ? item.size() * item.front().size()
                                    : item.is_array() ? item.size()
                                                      : 1;
        const bool told =
            numbers <= kMost && key != "log" && !(list && !item.empty() && item.front().is_object());
        if (!told)
            out += fmt::format("  {:<16}{} entries, see --json\n", key, item.size());
        else if (table)
            for (std::size_t i = 0; i < item.size(); ++i)
                out += fmt::format("  {:<16}{}\n", i == 0 ? key : "", row_of(item[i]));
        else if (list)
            out += fmt::format("  {:<16}{}\n", key, row_of(item));
        else
            out +=
                fmt::format("  {:<16}{}\n", key, item.is_string() ? item.get<std::string>() : text_of(item));
    }
    return out;
}

/// The figures of a stratum.
struct Row {
    std::uint64_t groups = 0;  ///< number of groups that set its thresholds; 0 with pooling by pixels
    /// The number of scores in all regions together, and the least and the largest number in a region.
    std::uint64_t scores = 0, low = UINT64_MAX, high = 0;
    std::size_t empty = 0, infinite = 0;  ///< pixels without data, and pixels whose set always has the class
};

/// `alpha`, or the smallest alpha that is guaranteed for all classes if that is larger.
double guaranteed_alpha(const Calibrator& calibrator, double alpha) {
    for (std::size_t s = 0; s < calibrator.risks.size(); ++s) alpha = kept_alpha(calibrator, s, alpha);
    return alpha;
}

std::vector<Row> rows_of(const Calibrator& calibrator, double alpha) {
    const std::vector<float> limits = score_thresholds(calibrator, alpha);
    const std::size_t pixels = calibrator.grid.pixels();
    std::vector<Row> rows(calibrator.strata());
    for (std::size_t s = 0; s < rows.size(); ++s) {
        Row& row = rows[s];
        if (const SmoothCurves* const smooth = calibrator.smooth_of(s)) row.groups = smooth->groups();
        for (std::size_t r = 0; r < calibrator.curves[s].size(); ++r)
            row.groups = std::max(row.groups, calibrator.curves[s].groups(r));
        std::vector<std::uint64_t> in_region(calibrator.partitions[s].regions);
        for (std::size_t p = 0; p < pixels; ++p) {
            const std::uint32_t count = calibrator.counts[s * pixels + p];
            in_region[calibrator.partitions[s].region[p]] += count;
            row.empty += count == 0;
            row.infinite += std::isinf(limits[s * pixels + p]) && limits[s * pixels + p] > 0;
        }
        for (const std::uint64_t n : in_region)
            row.scores += n, row.low = std::min(row.low, n), row.high = std::max(row.high, n);
    }
    return rows;
}

/// The description and the table's figures as JSON.
std::string json_of(const Calibrator& calibrator, const std::optional<Reference>& reference, double alpha) {
    auto json = nlohmann::ordered_json::parse(describe(calibrator));
    const std::vector<Row> rows = rows_of(calibrator, alpha);
    json["figures"] = {
        {"alpha", alpha}, {"identity", identity_of(calibrator)}, {"strata", nlohmann::ordered_json::array()}};
    for (const Row& row : rows)
        json["figures"]["strata"].push_back({{"groups", row.groups},
                                             {"scores", row.scores},
                                             {"scores_per_region", {row.low, row.high}},
                                             {"pixels_without_data", row.empty},
                                             {"infinite_pixels", row.infinite}});
    if (reference)
        json["reference"] = {{"units", reference->units},
                             {"classes", reference->classes},
                             {"regions", reference->blocks * reference->blocks},
                             {"features", reference->features()}};
    return json.dump(2) + "\n";
}

std::string summary(const Calibrator& calibrator, const std::optional<Reference>& reference, double alpha) {
    const CalibrateOptions& options = calibrator.options;
    std::string out = fmt::format("method        {}\n", options.method.name);
    out += fmt::format("made by       kandinsky {}, seed {}{}\n", calibrator.version, options.seed,
                       options.released ? ", compatible with the released code" : "");
    out += fmt::format("data          {} images{}, {} classes, {} x {} pixels (height x width)\n",
                       calibrator.images,
                       calibrator.grouped ? fmt::format(" of {} groups", calibrator.groups) : "",
                       calibrator.classes, calibrator.grid.height, calibrator.grid.width);
    out +=
        fmt::format("fingerprint   {:016x}{:016x}\n", calibrator.fingerprint[0], calibrator.fingerprint[1]);
    out += fmt::format("identity      {}\n", identity_of(calibrator));
    out += fmt::format("rule          score {}, condition {}, pooling {}, fallback {}, {} rungs\n",
                       describe(options.score), name_of(options.condition), name_of(options.pooling),
                       name_of(options.fallback), calibrator.curves.front().ladder().levels.size());
    if (options.sketch > 0)
        out += fmt::format(
            "precision     a sketch made in one pass: thresholds lie above the exact ones by at most {:.6g}, "
            "and never below, so sets can only grow\n",
            calibrator.sketch_error);
    out += fmt::format("promise       {}\n", promise_rule(calibrator));
    if (!calibrator.weighting.none()) out += fmt::format("weights       {}\n", weights_rule(calibrator));
    if (!calibrator.risks.empty()) out += fmt::format("risk          {}\n", risk_rule(calibrator));
    if (options.adapt != Adapt::none) out += fmt::format("adapt         {}\n", adapt_rule(calibrator));
    out += reference ? fmt::format("reference     {} features of {} {}, for kandinsky monitor\n",
                                   reference->features(), reference->units,
                                   calibrator.grouped ? "groups" : "images")
                     : std::string("reference     none, so kandinsky monitor cannot use this calibrator\n");
    out += fmt::format("guarantee     {}\n\n", guarantee(calibrator));
    if (!calibrator.choices.empty()) out += choice_table(calibrator) + "\n";
    out += fmt::format("{:<8}{:>8}{:>8}{:>12}{:>20}{:>14}{:>14}\n", "class", "groups", "regions", "scores",
                       "scores per region", "no data (px)", "infinite (px)");
    const std::size_t shown = std::min(calibrator.strata(), kMostRows);
    const std::vector<Row> rows = rows_of(calibrator, alpha);
    for (std::size_t s = 0; s < shown; ++s)
        out += fmt::format(
            "{:<8}{:>8}{:>8}{:>12}{:>20}{:>14}{:>14}\n", calibrator.strata() == 1 ? "all" : std::to_string(s),
            rows[s].groups > 0 ? std::to_string(rows[s].groups) : "-", calibrator.partitions[s].regions,
            rows[s].scores, fmt::format("{} to {}", rows[s].low, rows[s].high), rows[s].empty,
            rows[s].infinite);
    if (shown < calibrator.strata())
        out += fmt::format("... and {} more classes, see --json\n", calibrator.strata() - shown);
    out += fmt::format("(infinite thresholds at alpha {}: the class is always in the set there)\n",
                       text_of(alpha));
    std::string shapes;
    for (std::size_t s = 0; s < calibrator.strata(); ++s)
        if (calibrator.partitions[s].geometry != "{}")
            shapes += fmt::format("\ngeometry of {}{}\n{}",
                                  calibrator.strata() == 1 ? "all classes" : fmt::format("class {}", s),
                                  calibrator.choices.empty() ? "" : " (" + calibrator.method_of(s) + ")",
                                  brief(nlohmann::ordered_json::parse(calibrator.partitions[s].geometry)));
    const auto lines =
        std::count(out.begin(), out.end(), '\n') + std::count(shapes.begin(), shapes.end(), '\n');
    return out + (shapes.empty() || lines <= kScreen ? shapes : "geometry: see --json\n");
}

void run(const Flags& flags) {
    check_alpha(flags.alpha);
    const Calibrator calibrator = load(flags.calibrator);
    const std::optional<Reference> reference = load_reference(flags.calibrator);
    const double alpha = guaranteed_alpha(calibrator, flags.alpha);
    print(flags.json ? json_of(calibrator, reference, alpha) : summary(calibrator, reference, alpha));
}
}  // namespace

Command add_inspect(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "inspect", "Print the contents and the guarantee of a calibrator");
    app.input("calibrator", flags->calibrator, "FILE.kcal", "calibrator, a .kcal file")->required();
    app.add_option(
        "--alpha", flags->alpha,
        "error level alpha at which infinite thresholds are counted; with a guarantee of precision, an alpha "
        "below the smallest guaranteed one is raised to it");
    app.add_flag("--json", flags->json, "print the description as JSON");
    app.footer("Example (after 'kandinsky demo -o demo'):\n  kandinsky inspect demo/kmeans.kcal");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
