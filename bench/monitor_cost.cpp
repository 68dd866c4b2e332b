// The processor time of Monitor::update beside that of predict_sets, per image, on one thread.
//
//   monitor_cost CALIBRATOR.kcal PROBS.npy [GROUPS.npy] [--labels LABELS.npy] [--rounds 7]
//
// Both read the same mapped file; sets go to memory. A round runs one and then the other, and the medians
// over the rounds count, so that other work on the machine affects both.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <kandinsky/kandinsky.hpp>
#include <memory>
#include <string>
#include <vector>

namespace {
using namespace kandinsky;

double seconds_used() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto in_seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}
}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    std::string labels;
    std::size_t rounds = 7;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--labels" && i + 1 < argc)
            labels = argv[++i];
        else if (word == "--rounds" && i + 1 < argc)
            rounds = std::stoul(argv[++i]);
        else
            files.push_back(word);
    }
    if (files.size() < 2 || files.size() > 3 || rounds == 0) {
        fmt::print(stderr, "usage: see bench/monitor_cost.cpp\n");
        return 2;
    }
    const ThreadLimit limit(1);
    const Calibrator calibrator = load(files[0]);
    const Reference reference = load_reference(files[0]).value();
    const Dataset data(read_npy(files[1]), labels.empty() ? Array() : read_npy(labels),
                       files.size() > 2 ? read_npy(files[2]) : Array());
    const Predictor predictor(calibrator, 0.1);
    const std::size_t bytes = data.classes() * data.grid().pixels();
    const auto sets = std::make_unique_for_overwrite<std::byte[]>(bytes * data.images());
    std::vector<double> predicting, watching;
    for (std::size_t round = 0; round < rounds; ++round) {
        Monitor monitor(calibrator, reference);
        const double first = seconds_used();
        (void)predict_sets(predictor, data, std::span(sets.get(), bytes * data.images()));
        const double second = seconds_used();
        monitor.update(data);
        const double third = seconds_used();
        predicting.push_back(second - first);
        watching.push_back(third - second);
    }
    const double each = 1e6 / static_cast<double>(data.images());
    fmt::print("{} images: predict {:.1f} us, update {:.1f} us an image; update / predict = {:.3f}\n",
               data.images(), median(predicting) * each, median(watching) * each,
               median(watching) / median(predicting));
    return 0;
}
