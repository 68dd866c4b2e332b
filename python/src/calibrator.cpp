#include "calibrator.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kandinsky/kcal.hpp>
#include <kandinsky/onnx.hpp>
#include <kandinsky/predict.hpp>

#include "adapted.hpp"
#include "buffers.hpp"
#include "core/base/fail.hpp"
#include "dataset.hpp"
#include "io/file/atomic_file.hpp"
#include "module.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
/// `weights`: of the images, or empty; `fresh`: new images from which to learn weights, or null.
Calibrated calibrate_data(const Data& data, const std::string& method, std::vector<std::string> words,
                          nb::dict arrays, const std::vector<double>& weights, const Data* fresh,
                          double max_weight, std::size_t threads, nb::object callback) {
    CalibrateOptions options = options_of(method, std::move(words), std::move(arrays));
    if (!weights.empty() && weights.size() != data.set.images())
        fail(ErrorKind::data, "there are {} weights, but {} images", weights.size(), data.set.images());
    options.weights = {.of_row = weights, .bound = weights.empty() ? 0 : max_weight};
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        if (fresh != nullptr)
            options.weights =
                learn_weights(data.set, fresh->set, max_weight != 0 ? max_weight : 10, progress);
        auto made = std::make_shared<const Calibrator>(calibrate(data.set, options, progress));
        auto reference =
            std::make_shared<const Reference>(make_reference(*made, data.set, progress, options.weights));
        return Calibrated{std::move(made), std::move(reference)};
    });
}

Calibrated recalibrate_by(const Calibrated& self, const Data& data, std::size_t threads,
                          nb::object callback) {
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        auto made = std::make_shared<const Calibrator>(recalibrate(*self.core, data.set, progress));
        auto reference = std::make_shared<const Reference>(make_reference(*made, data.set, progress));
        return Calibrated{std::move(made), std::move(reference)};
    });
}

/// Returns the summary of the sets, as shares of all sets.
nb::dict predict_sets_into(const Calibrated& self, const Data& data, double alpha, nb::handle out,
                           bool packed, const std::string& empty, std::size_t threads, nb::object callback) {
    const Calibrator& calibrator = *self.core;
    check_fits(calibrator, data.set);
    const Predictor predictor(calibrator, alpha, empty_sets_of(empty));
    const std::size_t row = packed ? predictor.packed_width() : calibrator.grid.width;
    const std::size_t bytes = data.set.images() * calibrator.classes * calibrator.grid.height * row;
    const Output output(out, packed ? DType::uint8 : DType::boolean, bytes, "out");
    PyProgress progress(std::move(callback));
    const Predicted done = progress.run(threads, [&] {
        return predict_sets(predictor, data.set, std::span(output.as<std::byte>(), bytes),
                            {.form = packed ? SetForm::bits : SetForm::bytes}, progress);
    });
    const auto share = [&](std::uint64_t part) {
        return static_cast<double>(part) / static_cast<double>(done.sets);
    };
    nb::dict held;
    nb::list classes;
    double size = 0;
    for (const std::uint64_t members : done.members) {
        classes.append(share(members));
        size += share(members);
    }
    held["sets"] = done.sets;
    held["set_size"] = size;
    held["single_share"] = share(done.single);
    held["empty_share"] = share(done.empty + done.filled);
    held["filled_share"] = share(done.filled);
    held["full_share"] = share(done.full);
    held["class_share"] = classes;
    return held;
}

void predict_p_into(const Calibrated& self, const Data& data, nb::handle out, std::size_t threads,
                    nb::object callback) {
    const Calibrator& calibrator = *self.core;
    check_fits(calibrator, data.set);
    const std::size_t values = data.set.images() * calibrator.classes * calibrator.grid.pixels();
    const Output output(out, DType::float32, values, "out");
    PyProgress progress(std::move(callback));
    progress.run(threads, [&] {
        predict_p_values(calibrator, data.set, std::as_writable_bytes(std::span(output.as<float>(), values)),
                         {}, progress);
    });
}

/// The calibrator for images of another size, if each stratum has one region, so that thresholds do not
/// depend on the place; otherwise the calibrator itself.
Calibrated resized(const Calibrated& self, std::uint32_t height, std::uint32_t width) {
    const Calibrator& from = *self.core;
    for (std::size_t s = 0; s < from.strata(); ++s)
        if (from.smooth_of(s) != nullptr || from.partitions[s].regions != 1) return self;
    auto out = std::make_shared<Calibrator>(from);
    out->grid = {height, width};
    const std::size_t pixels = out->grid.pixels();
    out->levels.clear();
    out->counts.assign(from.strata() * pixels, 0);
    for (std::size_t s = 0; s < from.strata(); ++s) {
        out->partitions[s].region.assign(pixels, 0);
        out->levels.insert(out->levels.end(), pixels, from.levels[s * from.grid.pixels()]);
    }
    return {std::move(out)};
}

/// Writes the graph; empty strings mean "not given". Returns the names of the sets.
std::vector<std::string> write_onnx(const Calibrated& self, const std::filesystem::path& path,
                                    std::vector<double> alphas, const std::string& onto,
                                    const std::string& output_name, const std::string& logits,
                                    bool foreground, const std::string& empty) {
    const nb::gil_scoped_release released;
    OnnxOptions options{.alphas = std::move(alphas),
                        .empty = empty_sets_of(empty),
                        .foreground = foreground,
                        .output_name = output_name,
                        .folder = std::filesystem::absolute(path).parent_path()};
    if (!onto.empty()) options.onto = onto;
    if (!logits.empty()) options.logits = logits_of(logits);
    AtomicFile file(path);
    const OnnxModel model = onnx_sets(*self.core, options);
    file.write(model.bytes);
    file.commit();
    return model.outputs;
}

std::vector<std::size_t> map_shape(const Calibrator& calibrator) {
    return {calibrator.strata(), calibrator.grid.height, calibrator.grid.width};
}

Array regions_of(const Calibrated& self) {
    std::vector<std::uint32_t> all;
    for (const Partition& partition : self.core->partitions)
        all.insert(all.end(), partition.region.begin(), partition.region.end());
    return Array::copy_of(all, map_shape(*self.core));
}

Array levels_of(const Calibrated& self) {
    std::vector<std::uint8_t> all;
    for (const CurveLevel level : self.core->levels) all.push_back(static_cast<std::uint8_t>(level));
    return Array::copy_of(all, map_shape(*self.core));
}
}  // namespace

void init_calibrator(nb::module_& module) {
    nb::class_<Calibrated>(module, "Calibrated", "A finished calibrator; safe to use from several threads.")
        .def(
            "thresholds",
            [](const Calibrated& self, double alpha) {
                const Calibrator& core = *self.core;
                return Array::copy_of(thresholds(core, alpha),
                                      {core.classes, core.grid.height, core.grid.width});
            },
            nb::arg("alpha"))
        .def(
            "score_thresholds",
            [](const Calibrated& self, double alpha) {
                const Calibrator& core = *self.core;
                if (core.adapts())
                    fail(ErrorKind::usage,
                         "thresholds of this calibrator depend on the image; use sets or p-values, or "
                         "calibrate with --adapt none");
                return Array::copy_of(score_thresholds(core, alpha),
                                      {core.classes, core.grid.height, core.grid.width});
            },
            nb::arg("alpha"))
        .def(
            "limits", [](const Calibrated& self, double alpha) { return limits_of(*self.core, alpha); },
            nb::arg("alpha"))
        .def(
            "adapted_tables",
            [](const Calibrated& self, std::size_t stratum, const std::vector<double>& alphas) {
                return tables_of(*self.core, stratum, alphas);
            },
            nb::arg("stratum"), nb::arg("alphas"))
        .def("predict_sets", predict_sets_into, nb::arg("data"), nb::arg("alpha"), nb::arg("out"),
             nb::arg("packed"), nb::arg("empty"), nb::arg("threads"), nb::arg("progress").none())
        .def("predict_p", predict_p_into, nb::arg("data"), nb::arg("out"), nb::arg("threads"),
             nb::arg("progress").none())
        .def("to_onnx", write_onnx, nb::arg("path"), nb::arg("alphas"), nb::arg("onto"),
             nb::arg("output_name"), nb::arg("logits"), nb::arg("foreground"), nb::arg("empty"))
        .def("resized", resized, nb::arg("height"), nb::arg("width"))
        .def("recalibrate", recalibrate_by, nb::arg("data"), nb::arg("threads"), nb::arg("progress").none())
        .def("regions", regions_of)
        .def("levels", levels_of)
        .def("counts",
             [](const Calibrated& self) { return Array::copy_of(self.core->counts, map_shape(*self.core)); })
        .def("describe", [](const Calibrated& self) { return describe(*self.core); })
        .def("guarantee", [](const Calibrated& self) { return guarantee(*self.core); })
        .def("remarks", [](const Calibrated& self) { return remarks_of(*self.core); })
        .def(
            "save",
            [](const Calibrated& self, const std::filesystem::path& path) {
                const nb::gil_scoped_release released;
                if (self.reference)
                    save(*self.core, *self.reference, path);
                else
                    save(*self.core, path);
            },
            nb::arg("path"));
    module.def("calibrate", calibrate_data, nb::arg("data"), nb::arg("method"), nb::arg("words"),
               nb::arg("arrays"), nb::arg("weights"), nb::arg("fresh").none(), nb::arg("max_weight"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def(
        "load",
        [](const std::filesystem::path& path) {
            const nb::gil_scoped_release released;
            auto core = std::make_shared<const Calibrator>(load(path));
            std::optional<Reference> reference = load_reference(path);
            return Calibrated{std::move(core),
                              reference ? std::make_shared<const Reference>(std::move(*reference)) : nullptr};
        },
        nb::arg("path"));
}

}  // namespace kandinsky::python
