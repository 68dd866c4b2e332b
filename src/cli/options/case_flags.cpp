#include "cli/options/case_flags.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/fail.hpp"
#include "core/data/elements.hpp"
#include "io/array/group_file.hpp"
#include "io/file/mapped_file.hpp"

namespace kandinsky::cli {

namespace {
/// Predicted labels [N,H,W] as probabilities 0 and 1, [N,C,H,W] (uint8 p * 255). Ignored labels count as
/// class 0.
Array one_hot(const Array& labels, std::size_t classes, const std::vector<std::int64_t>& ignore,
              const std::string& name) {
    if (labels.shape().size() != 3 || !is_integer(labels.dtype()))
        fail(ErrorKind::data, "{}: predicted masks are {} {}, but must be integers [N,H,W]", name,
             name_of(labels.dtype()), labels.view().shape_text());
    const auto values = labels.to_vector<std::int64_t>();
    const std::size_t images = labels.shape()[0], pixels = labels.shape()[1] * labels.shape()[2];
    Array out = Array::zeros(DType::uint8, {images, classes, labels.shape()[1], labels.shape()[2]});
    auto* const to = reinterpret_cast<std::uint8_t*>(out.mutable_data());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool left_out = std::find(ignore.begin(), ignore.end(), values[i]) != ignore.end();
        const std::int64_t cls = left_out ? 0 : values[i];
        if (cls < 0 || cls >= static_cast<std::int64_t>(classes))
            fail(ErrorKind::data, "{}: label {} of image {} is not one of the {} classes", name, cls,
                 i / pixels, classes);
        to[(i / pixels * classes + static_cast<std::size_t>(cls)) * pixels + i % pixels] = 255;
    }
    return out;
}

std::int64_t largest(const Array& labels, const std::vector<std::int64_t>& ignore) {
    std::int64_t most = 1;
    if (labels.shape().size() == 3)
        for (const std::int64_t label : labels.to_vector<std::int64_t>())
            if (label > most && std::find(ignore.begin(), ignore.end(), label) == ignore.end()) most = label;
    return most;
}
}  // namespace

void CaseFlags::declare(OptionSet& app, const std::string& verb) {
    constexpr const char* kFiles = "Images";
    const auto in = [&](const char* flag, std::string& value, const char* type, const std::string& help) {
        app.input(flag, value, type, help)->group(kFiles);
    };
    in("--cal-probs", cal.probs, "FILE",
       "probabilities to calibrate on, [N,C,H,W], .npy or .npz[:KEY]; or a folder of files");
    in("--cal-masks", cal_masks, "FILE",
       "predicted labels [N,H,W] instead of --cal-probs, for models without probabilities; or a folder of "
       "files");
    in("--cal-labels", cal.labels, "FILE",
       "true labels of the calibration images, [N,H,W] or 0/1 masks [N,C,H,W]; or a folder of files");
    in("--cal-groups", cal.groups, "FILE",
       "groups of the calibration images (patients): integers or names [N]; or a .csv with lines NAME,GROUP");
    in("--probs", fresh.probs, "FILE", "probabilities of the images to " + verb);
    in("--masks", masks, "FILE", "predicted labels instead of --probs");
    in("--labels", fresh.labels, "FILE",
       "true labels of the new images, if known, to print how often the guarantee was kept");
    in("--groups", fresh.groups, "FILE", "groups of the new images");
    in("--rule", rule, "FILE.json", "rule file that an earlier call saved, instead of calibration images");
    app.output("--save", save, "FILE.json", "file to save the calibrated rule in")->group(kFiles);
    app.add_flag("--volumes", volumes,
                 "treat the images of a group as the slices of one volume, in their order (arrays only)")
        ->group(kFiles);
    app.add_option("--spacing", spacing,
                   "spacing in millimetres between slices, rows and columns, or for images between rows and "
                   "columns (default: that of NIfTI files; for other files lengths are in pixels)")
        ->type_name("Z,Y,X")
        ->group(kFiles);
    app.add_option("--ignore", cal.ignore, "labels to ignore, separated by commas, or 'none'")
        ->default_str("255")
        ->group(kFiles);
    app.add_option("--logits", cal.logits,
                   "function that turns the inputs into probabilities: sigmoid or softmax for logits, none "
                   "for probabilities")
        ->default_str("none")
        ->group(kFiles);
    const auto folder = [this] { return unless(folders(), "it is for folders of files, not for arrays"); };
    app.counts_unless(folder, [&] {
        app.add_flag("--class-files", cal.folder.class_files,
                     "probabilities have one file per class: NAME_0, NAME_1, ...")
            ->group(kFiles);
        app.add_option("--group-by", cal.folder.group_by,
                       "regular expression whose capture in a file's name is the group (default: each file "
                       "is a group)")
            ->type_name("REGEX")
            ->group(kFiles);
    });
    app.counts_unless("--group-by", [this] {
        return unless(cal.groups.empty() && fresh.groups.empty(), "groups are given");
    });
    app.counts_unless("--volumes",
                      [this] { return unless(!folders(), "files state whether they are volumes"); });
    for (const char* const flag : {"--logits", "--class-files"})
        app.counts_unless(flag, [this] { return unless(!hard(), "masks have no probabilities"); });
    app.counts_unless("--ignore", [this] {
        return unless(!cal.labels.empty() || !fresh.labels.empty() || hard(), "there are no labels");
    });
    for (const char* const flag : {"--cal-labels", "--cal-groups"})
        app.counts_unless(flag, [this] {
            return unless(!cal.probs.empty() || !cal_masks.empty(),
                          "there are no --cal-probs or --cal-masks");
        });
    for (const char* const flag : {"--labels", "--groups"})
        app.counts_unless(flag, [this] { return unless(applies(), "there are no --probs or --masks"); });
    app.counts_unless("--save",
                      [this] { return unless(calibrates(), "the rule is already in the file of --rule"); });
}

bool CaseFlags::folders() const {
    for (const std::string& path : {fresh.probs, masks, cal.probs, cal_masks})
        if (!path.empty()) return is_images(path);
    return false;
}

void CaseFlags::check() const {
    const bool images = !cal.probs.empty() || !cal_masks.empty();
    if (images && !rule.empty())
        fail(ErrorKind::usage, "--rule and calibration images exclude each other; give one of them");
    if (!images && rule.empty())
        fail(
            ErrorKind::usage,
            "give calibration images (--cal-probs and --cal-labels), or --rule FILE.json of an earlier call");
    if (!cal.probs.empty() && !cal_masks.empty())
        fail(ErrorKind::usage, "--cal-probs and --cal-masks exclude each other; give one of them");
    if (!fresh.probs.empty() && !masks.empty())
        fail(ErrorKind::usage, "--probs and --masks exclude each other; give one of them");
    if (images && cal.labels.empty())
        fail(ErrorKind::usage, "--cal-labels is missing: calibration needs the truth");
    if (images && applies() && cal_masks.empty() != masks.empty())
        fail(ErrorKind::usage,
             "calibrate and predict with the same kind of input: --cal-probs with --probs, --cal-masks with "
             "--masks");
    if (calibrates() && !applies() && save.empty())
        fail(ErrorKind::usage, "nothing to do: give --save FILE.json, or new images with --probs or --masks");
    if (!calibrates() && !applies())
        fail(ErrorKind::usage, "--rule is for new images: give --probs or --masks");
}

Spacing CaseFlags::spacing_mm() const {
    if (spacing.empty()) return {0, 0, 0};
    const std::vector<double> steps = parse_reals(spacing, "--spacing");
    if (steps.size() != 2 && steps.size() != 3)
        fail(ErrorKind::usage,
             "--spacing has {} numbers, but must have three (Z,Y,X), or two (Y,X) for images", steps.size());
    for (const double step : steps)
        if (!(step > 0) || !std::isfinite(step))
            fail(ErrorKind::usage, "--spacing has {}, but each must be a finite number above 0", step);
    return steps.size() == 3 ? Spacing{steps[0], steps[1], steps[2]} : Spacing{1, steps[0], steps[1]};
}

std::unique_ptr<CaseSource> CaseFlags::open(const InputFlags& input, const std::string& predicted,
                                            std::size_t classes) const {
    InputFlags how = input;
    how.ignore = cal.ignore, how.logits = cal.logits, how.folder = cal.folder;
    const std::string& main = predicted.empty() ? input.probs : predicted;
    if (!input.labels.empty() && is_images(main) != is_images(input.labels))
        fail(ErrorKind::usage,
             "{} is a folder, but {} is an array: files pair by name, so both must be folders",
             is_images(main) ? main : input.labels, is_images(main) ? input.labels : main);
    const Spacing steps = spacing_mm();
    if (is_images(main)) {
        FolderCasesOptions options;
        options.folder = how.folder_options();
        options.predictions = main;
        options.labels = input.labels;
        options.hard = !predicted.empty();
        options.classes = classes;
        options.spacing = steps;
        if (!input.groups.empty()) {
            const GroupFile file = read_groups(input.groups);
            options.groups = file.ids.to_vector<std::int64_t>();
            options.group_names = file.cases;
        }
        return std::make_unique<FolderCases>(std::move(options));
    }
    DatasetOptions read = how.dataset_options();
    const Array labels = input.labels.empty() ? Array() : load_labels(input.labels);
    Array probs;
    if (predicted.empty()) {
        probs = load_probs(main);
    } else {
        const Array masks_there = load_labels(predicted);
        if (classes == 0) {
            classes = static_cast<std::size_t>(largest(masks_there, read.ignore)) + 1;
            if (!labels.empty())
                classes = std::max(classes, static_cast<std::size_t>(largest(labels, read.ignore)) + 1);
        }
        probs = one_hot(masks_there, classes, read.ignore, predicted);
    }
    read.probs_name = main;
    const Array groups = load_groups(input.groups);
    const Dataset data =
        labels.empty() && groups.empty() ? Dataset(probs, read) : Dataset(probs, labels, groups, read);
    const bool known = steps[1] > 0;
    return cases_of(data, {.volumes = volumes,
                           .spacing = known ? steps : Spacing{1, 1, 1},
                           .unit = known ? LengthUnit::millimetre : LengthUnit::pixel});
}

std::unique_ptr<CaseSource> CaseFlags::spaced(std::unique_ptr<CaseSource> cases) const {
    const std::size_t steps = spacing.empty() ? 0 : parse_reals(spacing, "--spacing").size();
    if (steps == 2 && cases->volumes())
        fail(ErrorKind::usage,
             "--spacing is {}, but volumes need three numbers: between slices, rows and columns", spacing);
    if (steps == 3 && !cases->volumes())
        fail(ErrorKind::usage, "--spacing is {}, but images need two numbers: between rows and columns",
             spacing);
    return cases;
}

std::unique_ptr<CaseSource> CaseFlags::calibration() const {
    return spaced(open(cal, cal_masks, 0));
}

std::unique_ptr<CaseSource> CaseFlags::images(std::size_t classes) const {
    return spaced(open(fresh, masks, masks.empty() ? 0 : classes));
}

void CaseFlags::check_fits(const CaseSource& images, std::size_t classes, LengthUnit unit, bool rule_volumes,
                           bool rule_hard) const {
    const std::string& name = fresh.probs.empty() ? masks : fresh.probs;
    if (images.classes() != classes)
        fail(ErrorKind::data, "{} has {} classes, but the rule is made for {}", name, images.classes(),
             classes);
    if (rule_hard != !masks.empty())
        fail(ErrorKind::usage, "the rule was calibrated on {}; give {}",
             rule_hard ? "masks" : "probabilities", rule_hard ? "--masks" : "--probs");
    if (images.unit() != unit)
        fail(ErrorKind::data, "the rule is in {}, but {} {}",
             unit == LengthUnit::pixel ? "pixels" : "millimetres", name,
             unit == LengthUnit::pixel ? "has a voxel spacing; calibrate on images with a spacing too"
                                       : "has no voxel spacing; give --spacing");
    if (images.volumes() != rule_volumes)
        fail(ErrorKind::data, "the rule is made for {}, but {} holds {}", rule_volumes ? "volumes" : "images",
             name, rule_volumes ? "images (for arrays use --volumes with --groups)" : "volumes");
}

std::string read_rule(const std::string& path) {
    const MappedFile file = map_file(path);
    constexpr std::size_t kMost = std::size_t{16} << 20;
    if (file.bytes.size() > kMost) fail(ErrorKind::data, "{} is too large for a rule", path);
    return std::string(file.text());
}

void declare_confidence(OptionSet& app, double& confidence) {
    app.add_option("--confidence", confidence,
                   "confidence, such as 0.95, with which --alpha holds over draws of calibration data (0: on "
                   "average over them)");
}

}  // namespace kandinsky::cli
