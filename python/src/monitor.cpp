#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <kandinsky/monitor.hpp>

#include "buffers.hpp"
#include "calibrator.hpp"
#include "core/base/fail.hpp"
#include "dataset.hpp"
#include "module.hpp"
#include "progress.hpp"
#include "report/page/monitor_page.hpp"
#include "report/page/page.hpp"
#include "report/table/monitor_json.hpp"

namespace nb = nanobind;

namespace kandinsky::python {

namespace {
/// A stream, and what its last update did.
struct Watch {
    Calibrated calibrated;
    Monitor monitor;
    MonitorUpdate last{};
    mutable std::atomic_flag busy{};
};

/// The use of a stream for one call. update() and save() release the interpreter's lock, so other calls can
/// come meanwhile: from other threads, or from the callable of update() on any of its threads. They are
/// refused, because a wait for update() in its own callable would never end.
class Turn {
  public:
    explicit Turn(const Watch& watch) : busy_(watch.busy) {
        if (busy_.test_and_set(std::memory_order_acquire))
            fail(ErrorKind::usage, "the monitor is busy with another call; make one call at a time");
    }
    ~Turn() { busy_.clear(std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::atomic_flag& busy_;
};

std::string json_of(const Watch& self) {
    return monitor_json(self.monitor.verdict(), self.last).dump();
}

const Reference& reference_of(const Calibrated& calibrated) {
    if (!calibrated.reference)
        fail(ErrorKind::usage,
             "the calibrator has no reference to compare a stream with: calibrators of compare() and files "
             "of earlier versions have none; calibrate again");
    return *calibrated.reference;
}

std::string update(Watch& self, const Data& data, bool skip_seen, bool complete, std::size_t threads,
                   nb::object callback) {
    const Turn turn(self);
    PyProgress progress(std::move(callback));
    return progress.run(threads, [&] {
        MonitorUpdate done = self.monitor.update(data.set, skip_seen ? Seen::skip : Seen::count, progress);
        if (complete) {
            const MonitorVerdict before = self.monitor.verdict();
            self.monitor.complete();
            const MonitorVerdict after = self.monitor.verdict();
            done.units += after.units - before.units;
            done.labelled += after.labelled_units - before.labelled_units;
        }
        self.last = done;
        return json_of(self);
    });
}
}  // namespace

void init_monitor(nb::module_& module) {
    nb::class_<Watch>(module, "Watch", "A stream of images after calibration.")
        .def("update", update, nb::arg("data"), nb::arg("skip_seen"), nb::arg("complete"), nb::arg("threads"),
             nb::arg("progress").none())
        .def("json",
             [](const Watch& self) {
                 const Turn turn(self);
                 return json_of(self);
             })
        .def("change_map",
             [](const Watch& self) {
                 const Turn turn(self);
                 const Calibrator& core = *self.calibrated.core;
                 return Array::copy_of(self.monitor.change_map(),
                                       {core.classes, core.grid.height, core.grid.width});
             })
        .def(
            "page",
            [](const Watch& self, const std::string& title, const std::vector<std::string>& names) {
                const Turn turn(self);
                return report_page(
                    monitor_page(self.monitor, self.last, self.calibrated.core->grid, title, names));
            },
            nb::arg("title"), nb::arg("names"))
        .def("prometheus",
             [](const Watch& self) {
                 const Turn turn(self);
                 return prometheus_text(self.monitor.verdict());
             })
        .def(
            "save",
            [](const Watch& self, const std::filesystem::path& path) {
                const Turn turn(self);
                const nb::gil_scoped_release released;
                self.monitor.save(path);
            },
            nb::arg("path"));
    module.def(
        "watch",
        [](const Calibrated& calibrated, double delta, double alpha) {
            return new Watch{calibrated, Monitor(*calibrated.core, reference_of(calibrated),
                                                 {.delta = delta, .alpha = alpha})};
        },
        nb::arg("calibrated"), nb::arg("delta"), nb::arg("alpha"), nb::rv_policy::take_ownership);
    module.def(
        "watch_again",
        [](const Calibrated& calibrated, const std::filesystem::path& state) {
            return new Watch{calibrated, Monitor(*calibrated.core, reference_of(calibrated), state)};
        },
        nb::arg("calibrated"), nb::arg("state"), nb::rv_policy::take_ownership);
}

}  // namespace kandinsky::python
