#include <atomic>
#include <cmath>
#include <kandinsky/kcal.hpp>
#include <kandinsky/outline.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/case_flags.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "io/array/npy.hpp"
#include "io/file/input_watch.hpp"
#include "outline/nested.hpp"
#include "report/figure/contour.hpp"

namespace kandinsky::cli {

namespace {
struct Flags {
    CommonFlags common;
    CaseFlags cases;
    std::string output, contours, json, calibrator, score = "auto", sides = "both";
    std::vector<int> classes;
    double alpha = 0.1, confidence = 0, share = 1;
    std::uint64_t seed = 0;

    /// Folders go into a folder, one file a case, unless the name asks for one array.
    [[nodiscard]] bool to_folder() const {
        return !output.empty() && cases.applies() && cases.folders() &&
               std::filesystem::path(output).extension() != ".npy";
    }
};

OutlineSides sides_of(const std::string& word) {
    if (word == "both") return OutlineSides::both;
    return says("--sides", word, "outer", "inner") ? OutlineSides::outer : OutlineSides::inner;
}

/// How far a mask reaches, in words: "distance up to 2.3 mm".
std::string reach(const OutlineLevel& level, bool outer, const OutlineRule& rule) {
    if (std::isinf(level.threshold)) return outer ? "the whole image" : "nothing";
    const bool lengths = level.score.kind == OutlineScore::Kind::distance && level.score.weight == 0;
    const char* const unit = rule.unit == LengthUnit::millimetre ? " mm"
                             : rule.volumes                      ? " voxels"
                                                                 : " pixels";
    return fmt::format("{} {} {:.4g}{}", name_of(level.score), outer ? "up to" : "below", level.threshold,
                       lengths ? unit : "");
}

std::string table(const OutlineRule& rule) {
    std::string out = fmt::format("{:<7}{:>7}{:>10}{:>10}{:>10}   {}\n", "class", "groups", "object", "outer",
                                  "inner", "masks");
    for (const ClassOutline& one : rule.classes) {
        const std::string large =
            rule.sides == OutlineSides::inner ? "-" : fmt::format("{:.4f}", one.outer_share);
        const std::string small =
            rule.sides == OutlineSides::outer ? "-" : fmt::format("{:.4f}", one.inner_share);
        std::string masks;
        if (rule.sides != OutlineSides::inner) masks += "outer: " + reach(one.outer, true, rule);
        if (rule.sides != OutlineSides::outer)
            masks += (masks.empty() ? "" : "; ") + ("inner: " + reach(one.inner, false, rule));
        out += fmt::format("{:<7}{:>7}{:>10.4f}{:>10}{:>10}   {}\n", one.number, one.groups, one.object_share,
                           large, small, masks);
    }
    return out + "(shares of the image, means over the calibration groups that have the class)\n";
}

constexpr double kNearlyAll = 0.9;  // of the image: such a mask says nothing

std::vector<std::string> remarks(const OutlineRule& rule) {
    std::vector<std::string> out;
    const outline::Assurance wanted{rule.alpha, rule.confidence};
    const std::size_t needed =
        outline::least_groups(rule.sides == OutlineSides::both ? wanted.halved() : wanted);
    for (const ClassOutline& one : rule.classes) {
        if (one.groups < needed)
            out.push_back(fmt::format(
                "class {}: {} calibration groups have it, but alpha {}{} needs {}; its outer mask is the "
                "whole image and its inner mask is empty. More groups{} or a larger alpha help",
                one.number, one.groups, rule.alpha, rule.sides == OutlineSides::both ? " for both masks" : "",
                needed, rule.sides == OutlineSides::both ? ", one mask (--sides outer)" : ""));
        if (one.groups >= needed && rule.sides != OutlineSides::inner && one.outer_share > kNearlyAll)
            out.push_back(fmt::format(
                "class {}: the outer mask is nearly the whole image, since in some calibration groups the "
                "model misses part of the object by far; {}{}or a larger alpha help",
                one.number, rule.share < 1 ? "a smaller --share, " : "--share 0.95, ",
                rule.volumes ? "" : "--volumes where images are slices of volumes, "));
        if (one.false_inner > 0)
            out.push_back(
                fmt::format("class {}: nothing is promised where it does not occur; there {} of {} "
                            "calibration groups get an "
                            "inner mask",
                            one.number, one.false_inner, one.without));
    }
    return out;
}

std::string judged(const OutlineRule& rule, const std::vector<OutlineJudgement>& found) {
    std::string out = fmt::format("{:<7}{:>7}{:>10}{:>10}{:>10}{:>10}\n", "class", "groups", "held", "object",
                                  "outer", "inner");
    for (std::size_t c = 0; c < found.size(); ++c) {
        const OutlineJudgement& one = found[c];
        const double n = static_cast<double>(std::max<std::size_t>(1, one.groups));
        out += fmt::format("{:<7}{:>7}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}\n", rule.classes[c].number,
                           one.groups, static_cast<double>(one.held) / n, one.object_share, one.outer_share,
                           one.inner_share);
    }
    return out +
           "(held: groups whose masks are as promised; the others are shares of the image, means over groups "
           "that have the class)\n";
}

nlohmann::ordered_json json_of(const OutlineRule& rule, const std::vector<OutlineJudgement>& found) {
    nlohmann::ordered_json out{{"rule", nlohmann::ordered_json::parse(to_json(rule))}};
    if (found.empty()) return out;
    out["test"] = nlohmann::ordered_json::array();
    for (std::size_t c = 0; c < found.size(); ++c)
        out["test"].push_back({{"class", rule.classes[c].number},
                               {"groups", found[c].groups},
                               {"held", found[c].held},
                               {"object_share", found[c].object_share},
                               {"outer_share", found[c].outer_share},
                               {"inner_share", found[c].inner_share},
                               {"groups_without", found[c].without},
                               {"false_inner", found[c].false_inner}});
    return out;
}

/// Draws a case: its slice with the largest outer mask, a picture for each class.
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

/// Outlines all cases into an array, a folder of files, or pictures.
void write_masks(const Flags& flags, const OutlineRule& rule, const CaseSource& cases,
                 const Calibrator* calibrator, Outputs& outputs, TerminalProgress& progress) {
    std::optional<FolderOutput> folder, pictures;
    if (flags.to_folder()) folder.emplace(flags.output);
    if (!flags.contours.empty()) pictures.emplace(flags.contours);
    const auto* const files = dynamic_cast<const FolderCases*>(&cases);
    const auto made = [&](std::size_t i) {
        if (progress.cancelled()) throw Interrupted();
        const Case one = cases.read(i);
        std::vector<std::uint8_t> codes = outline_case(rule, one, calibrator);
        if (pictures) draw(rule, one, codes, cases.name(i), pictures->folder());
        if (folder) files->write(i, codes, folder->folder());
        return std::pair(one.extent, std::move(codes));
    };
    if (!outputs.has("-o")) {
        parallel_for(cases.size(), progress, "outlining", [&](std::size_t i) { (void)made(i); });
    } else {
        // In the order of the cases, a few at a time; all must have one size. A volume's slices are rows of
        // the array.
        constexpr std::size_t kBlock = 64;
        std::optional<Extent> size;
        for (std::size_t first = 0; first < cases.size(); first += kBlock) {
            progress.update("outlining", first, cases.size());
            const std::size_t count = std::min(kBlock, cases.size() - first);
            std::vector<std::pair<Extent, std::vector<std::uint8_t>>> block(count);
            parallel_for(count, [&](std::size_t i) { block[i] = made(first + i); });
            for (const auto& [extent, codes] : block) {
                const std::size_t classes = rule.classes.size(), voxels = extent.voxels();
                if (!size) {
                    size = extent;
                    std::vector<std::size_t> shape{cases.size(), classes, extent.height, extent.width};
                    if (rule.volumes) shape.insert(shape.begin() + 2, extent.depth);
                    outputs.file("-o").write(npy_header(DType::uint8, shape));
                }
                if (!(extent == *size))
                    fail(ErrorKind::data,
                         "an array needs cases of one size, but one has {} x {} x {} voxels and another {} x "
                         "{} x {}; "
                         "volumes of several sizes go into a folder of files",
                         size->width, size->height, size->depth, extent.width, extent.height, extent.depth);
                outputs.file("-o").write(codes.data(), classes * voxels);
            }
        }
    }
    if (folder) folder->commit();
    if (pictures) pictures->commit();
}

void run(const Flags& flags) {
    const ThreadLimit limit(flags.common.threads);
    flags.cases.check();
    OutlineOptions options{.alpha = flags.alpha,
                           .confidence = flags.confidence,
                           .share = flags.share,
                           .sides = sides_of(flags.sides),
                           .hard = flags.cases.hard(),
                           .seed = flags.seed};
    if (flags.score != "auto") options.scores = {outline_score(flags.score)};
    for (const int cls : flags.classes) {
        if (cls < 0) fail(ErrorKind::usage, "--classes has {}, which is no class", cls);
        options.classes.push_back(static_cast<std::uint32_t>(cls));
    }
    Outputs outputs{
        {"--save", flags.cases.save}, {"-o", flags.to_folder() ? "" : flags.output}, json_output(flags.json)};
    TerminalProgress progress(flags.common.quiet);
    const InputWatch inputs;
    if (!flags.calibrator.empty())
        options.calibrator = std::make_shared<const Calibrator>(load(flags.calibrator));
    const OutlineRule rule = flags.cases.calibrates()
                                 ? calibrate_outlines(*flags.cases.calibration(), options, progress)
                                 : outline_rule(flags.cases.rule_text(), flags.cases.rule);
    if (outputs.has("--save")) outputs.file("--save").write(to_json(rule));
    std::vector<OutlineJudgement> found;
    std::size_t cases = 0;
    if (flags.cases.applies()) {
        const auto images = flags.cases.images(rule.class_count);
        flags.cases.check_fits(*images, rule.unit, rule.volumes, rule.hard);
        cases = images->size();
        if (!flags.output.empty() || !flags.contours.empty())
            write_masks(flags, rule, *images, options.calibrator.get(), outputs, progress);
        if (images->labelled()) found = judge_outlines(rule, *images, options.calibrator.get(), progress);
    }
    progress.clear();
    inputs.check();
    write_json(flags.json, outputs, json_of(rule, found));
    outputs.commit();
    if (flags.common.quiet || flags.json == "-") return;
    if (flags.cases.calibrates())
        for (const std::string& remark : remarks(rule)) warn(progress, remark);
    print(fmt::format("{}\n{}", guarantee(rule), table(rule)));
    if (flags.cases.applies())
        print(fmt::format(
            "{} new {}{}\n{}", cases, rule.volumes ? "volumes" : "images",
            flags.output.empty() ? "" : fmt::format(": {} (0 outside, 1 between, 2 inside)", flags.output),
            found.empty() ? "" : judged(rule, found)));
}
}  // namespace

Command add_outline(CLI::App& root) {
    const auto flags = std::make_shared<Flags>();
    OptionSet& app =
        OptionSet::add_to(root, "outline", "Masks that lie inside an object and masks that hold it");
    flags->cases.declare(app, "outline");
    const auto calibrates = [flags = flags.get()] {
        return unless(flags->cases.calibrates(), "--rule has it already");
    };
    app.counts_unless(calibrates, [&] {
        app.add_option("--alpha", flags->alpha,
                       "share of groups (images without groups) whose masks may fail");
        declare_confidence(app, flags->confidence);
        app.add_option("--share", flags->share,
                       "the outer mask holds at least this share of the object, and of the inner one at most "
                       "1 - share of the object's "
                       "size lies outside");
        app.add_option("--sides", flags->sides, "masks to make: both, outer or inner; one alone is tighter");
        app.add_option("--score", flags->score,
                       "how far masks reach: by distance from the predicted mask, relative to its radius, by "
                       "probability, by the values "
                       "of a calibrator (field); distance:10 and relative:10 count a probability as 10 "
                       "pixels; auto: what gives the "
                       "tightest masks");
        declare_classes(app, flags->classes, "classes to outline (default: all but 0)");
        app.add_option("--seed", flags->seed, "seed of the draw of the groups that choose the score");
    });
    app.input("--calibrator", flags->calibrator, "FILE.kcal",
              "for --score field: a calibrator made from other images");
    app.output("-o,--output", flags->output, "FILE",
               "masks, uint8 [N,K,H,W] for K outlined classes: 0 outside, 1 between, 2 inside; for a folder "
               "of files a folder, one "
               "file each");
    app.output("--contours", flags->contours, "DIR",
               "a PNG for each image and class: outer (orange), inner (blue), truth (green)");
    app.output("--json", flags->json, "FILE", "write the result as JSON ('-': standard output)");
    const Flags* const given = flags.get();
    app.counts_unless("--seed", [given] {
        return unless(given->score == "auto", "there is one score, and nothing to choose");
    });
    for (const char* const flag : {"-o", "--contours"})
        app.counts_unless(
            flag, [given] { return unless(given->cases.applies(), "there are no --probs or --masks"); });
    flags->common.declare(app);
    app.footer(
        "Example (after 'kandinsky demo -o demo'):\n"
        "  kandinsky outline --cal-probs demo/cal_probs.npy --cal-labels demo/cal_labels.npy --share 0.95 "
        "\\\n"
        "      --probs demo/test_probs.npy --labels demo/test_labels.npy -o demo/outlines.npy");
    return {&app, [flags] { run(*flags); }};
}

}  // namespace kandinsky::cli
