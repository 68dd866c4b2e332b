#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kandinsky/measure.hpp>
#include <kandinsky/outline.hpp>

#include "buffers.hpp"
#include "calibrator.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "dataset.hpp"
#include "module.hpp"
#include "outline/remarks.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
/// A spacing of 0 means pixels.
std::unique_ptr<CaseSource> source_of(const Data& data, bool volumes, const Spacing& spacing) {
    const bool known = spacing[1] != 0;
    return cases_of(data.set, {.volumes = volumes,
                               .spacing = known ? spacing : Spacing{1, 1, 1},
                               .unit = known ? LengthUnit::millimetre : LengthUnit::pixel});
}

/// The calibrator of the score field; null without one.
const Calibrator* core_of(const Calibrated* calibrator) {
    return calibrator == nullptr ? nullptr : calibrator->core.get();
}

void check_fits(const CaseSource& cases, std::size_t classes, LengthUnit unit, bool volumes) {
    if (cases.classes() != classes)
        fail(ErrorKind::data, "probs has {} classes, but the rule is made for {}", cases.classes(), classes);
    if (cases.unit() != unit)
        fail(ErrorKind::usage, "the rule is in {}; {} --spacing",
             unit == LengthUnit::pixel ? "pixels" : "millimetres",
             unit == LengthUnit::pixel ? "leave out" : "give");
    if (cases.volumes() != volumes)
        fail(ErrorKind::data, "the rule is made for {}, but probs holds {}", volumes ? "volumes" : "images",
             volumes ? "images" : "volumes");
}

std::string outline_fit(const Data& data, bool volumes, const Spacing& spacing, double alpha,
                        double confidence, double share, const std::string& unit,
                        const std::string& connectivity, const std::string& sides, const std::string& score,
                        bool hard, std::vector<std::uint32_t> classes, std::uint64_t seed,
                        const Calibrated* calibrator, std::size_t threads, nb::object callback) {
    OutlineOptions options{.alpha = alpha,
                           .confidence = confidence,
                           .share = share,
                           .hard = hard,
                           .classes = std::move(classes),
                           .seed = seed};
    if (unit != "group" && unit != "object")
        fail(ErrorKind::usage, "--unit is '{}', but must be group or object", unit);
    if (connectivity != "corners" && connectivity != "faces")
        fail(ErrorKind::usage, "--connectivity is '{}', but must be corners or faces", connectivity);
    options.per = unit == "group" ? OutlineUnit::group : OutlineUnit::object;
    options.connectivity = connectivity == "corners" ? Connectivity::corners : Connectivity::faces;
    if (sides != "both" && sides != "outer" && sides != "inner")
        fail(ErrorKind::usage, "--sides is '{}', but must be both, outer or inner", sides);
    options.sides = sides == "both"    ? OutlineSides::both
                    : sides == "outer" ? OutlineSides::outer
                                       : OutlineSides::inner;
    if (score != "auto") options.scores = {outline_score(score)};
    if (calibrator != nullptr) options.calibrator = calibrator->core;
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        return to_json(calibrate_outlines(*source_of(data, volumes, spacing), options, progress));
    });
}

/// Writes [image][class][pixel]; the images of a volume are consecutive.
void outline_apply(const std::string& text, const Data& data, bool volumes, const Spacing& spacing,
                   nb::handle out, const Calibrated* calibrator, std::size_t threads, nb::object callback) {
    const OutlineRule rule = outline_rule(text, "rule");
    const std::size_t pixels = data.set.grid().pixels(), count = rule.classes.size();
    const Output codes(out, DType::uint8, data.set.images() * count * pixels, "out");
    PyProgress progress(std::move(callback));
    progress.run(threads, [&] {
        const auto cases = source_of(data, volumes, spacing);
        check_fits(*cases, rule.class_count, rule.unit, rule.volumes);
        const std::size_t depth = data.set.images() / cases->size();
        parallel_for(cases->size(), progress, "outlining", [&](std::size_t i) {
            const Case one = cases->read(i);
            if (one.extent.depth != depth)
                fail(ErrorKind::data, "groups: each volume needs a group of its own");
            const std::vector<std::uint8_t> own = outline_case(rule, one, core_of(calibrator));
            for (std::size_t s = 0; s < depth; ++s)
                for (std::size_t c = 0; c < count; ++c)
                    std::copy_n(own.data() + (c * depth + s) * pixels, pixels,
                                codes.as<std::uint8_t>() + ((i * depth + s) * count + c) * pixels);
        });
    });
}

/// How often the guarantee was kept, as JSON.
std::string outline_judge(const std::string& text, const Data& data, bool volumes, const Spacing& spacing,
                          double small, const Calibrated* calibrator, std::size_t threads,
                          nb::object callback) {
    const OutlineRule rule = outline_rule(text, "rule");
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        const auto cases = source_of(data, volumes, spacing);
        check_fits(*cases, rule.class_count, rule.unit, rule.volumes);
        return to_json(rule, judge_outlines(rule, *cases, core_of(calibrator), small, progress));
    });
}

std::string measure_fit(const Data& data, bool volumes, const Spacing& spacing, double alpha,
                        double confidence, const std::string& by, bool hard,
                        std::vector<std::uint32_t> classes, std::uint64_t seed, std::size_t threads,
                        nb::object callback) {
    const MeasureOptions options{.alpha = alpha,
                                 .confidence = confidence,
                                 .by = measure_by(by),
                                 .hard = hard,
                                 .seed = seed,
                                 .classes = std::move(classes)};
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        return to_json(calibrate_measures(*source_of(data, volumes, spacing), options, progress));
    });
}

/// Tuples (group, class, size, low, high, truth, Dice, low, high, truth).
nb::list measure_apply(const std::string& text, const Data& data, bool volumes, const Spacing& spacing,
                       std::size_t threads, nb::object callback) {
    const MeasureRule rule = measure_rule(text, "rule");
    PyProgress progress(std::move(callback));
    const std::vector<Measurement> found = progress.run(threads, [&] {
        const auto cases = source_of(data, volumes, spacing);
        check_fits(*cases, rule.class_count, rule.unit, rule.volumes);
        return measure(rule, *cases, progress);
    });
    nb::list out;
    for (const Measurement& one : found)
        out.append(nb::make_tuple(one.group, one.number, one.size.value, one.size.low, one.size.high,
                                  one.size.truth, one.dice.value, one.dice.low, one.dice.high,
                                  one.dice.truth));
    return out;
}

std::vector<std::string> outline_remarks(const std::string& text) {
    return outline::remarks(outline_rule(text, "rule"));
}

std::vector<std::string> measure_remarks(const std::string& text) {
    return outline::remarks(measure_rule(text, "rule"));
}
}  // namespace

void init_outline(nb::module_& module) {
    module.def("outline_fit", outline_fit, nb::arg("data"), nb::arg("volumes"), nb::arg("spacing"),
               nb::arg("alpha"), nb::arg("confidence"), nb::arg("share"), nb::arg("unit"),
               nb::arg("connectivity"), nb::arg("sides"), nb::arg("score"), nb::arg("hard"),
               nb::arg("classes"), nb::arg("seed"), nb::arg("calibrator").none(), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("outline_judge", outline_judge, nb::arg("rule"), nb::arg("data"), nb::arg("volumes"),
               nb::arg("spacing"), nb::arg("small"), nb::arg("calibrator").none(), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("outline_apply", outline_apply, nb::arg("rule"), nb::arg("data"), nb::arg("volumes"),
               nb::arg("spacing"), nb::arg("out"), nb::arg("calibrator").none(), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("measure_fit", measure_fit, nb::arg("data"), nb::arg("volumes"), nb::arg("spacing"),
               nb::arg("alpha"), nb::arg("confidence"), nb::arg("by"), nb::arg("hard"), nb::arg("classes"),
               nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
    module.def("measure_apply", measure_apply, nb::arg("rule"), nb::arg("data"), nb::arg("volumes"),
               nb::arg("spacing"), nb::arg("threads"), nb::arg("progress").none());
    module.def("outline_remarks", outline_remarks, nb::arg("rule"));
    module.def("measure_remarks", measure_remarks, nb::arg("rule"));
}

}  // namespace kandinsky::python
