#include <cstdio>
#include <kandinsky/kandinsky.hpp>

int main() try {
    const auto scenes =
        kandinsky::make_scenes({.images = 30, .grid = {48, 64}});  // your model's outputs and labels
    const kandinsky::Dataset data(scenes.probs, scenes.labels, scenes.groups);
    const kandinsky::Calibrator calibrator =
        kandinsky::calibrate(data, {.method = kandinsky::KmeansOptions{.clusters = 4}});
    kandinsky::save(calibrator, "model.kcal");

    const kandinsky::Predictor predictor(kandinsky::load("model.kcal"), 0.1);  // at alpha = 0.1
    const std::vector<float> probs = data.probs(0);  // one image, [class][row][column]
    std::vector<std::uint8_t> sets(probs.size());
    predictor.sets(probs, sets);  // 1 where the class is in the pixel's set; allocates nothing
    std::puts(kandinsky::guarantee(calibrator).c_str());
} catch (const kandinsky::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.kind());
}
