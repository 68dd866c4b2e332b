#include "progress.hpp"

#include <string>

namespace nb = nanobind;

namespace kandinsky::python {

void PyProgress::update(std::string_view stage, std::size_t done, std::size_t total) {
    if (callback_.is_none() || stopped_) return;
    const auto now = Clock::now();
    if (stage == stage_ && done < total && now - last_update_ < std::chrono::milliseconds(100)) return;
    stage_ = stage;
    last_update_ = now;
    const nb::gil_scoped_acquire gil;
    try {
        callback_(nb::str(stage_.c_str(), stage_.size()), done, total);
    } catch (nb::python_error& error) {
        problem_.emplace(error);
        stopped_ = true;
    }
}

bool PyProgress::cancelled() const {
    if (stopped_ || std::this_thread::get_id() != home_) return stopped_;
    const auto now = Clock::now();
    if (now - last_look_ < std::chrono::milliseconds(50)) return false;
    last_look_ = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
        problem_.emplace();
        stopped_ = true;
    }
    return stopped_;
}

void PyProgress::raise() {
    if (problem_) throw nb::python_error(*problem_);
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}

}  // namespace kandinsky::python
