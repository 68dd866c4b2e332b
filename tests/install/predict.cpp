#include <cstdio>
#include <kandinsky/kandinsky.hpp>
#include <numeric>

int main(int argc, char** argv) try {
    if (argc != 3) return std::fputs("usage: predict MODEL.kcal PROBS.npy\n", stderr), 2;
    const kandinsky::Predictor predictor(kandinsky::load(argv[1]), 0.1);  // at alpha = 0.1
    const kandinsky::Dataset images(kandinsky::read_npy(argv[2]));        // mapped, not read
    std::vector<float> probs(images.classes() * images.grid().pixels());
    std::vector<std::uint8_t> sets(predictor.thresholds().size());
    if (sets.size() != probs.size()) return std::fputs("predict: another grid or other classes\n", stderr), 3;
    for (std::size_t i = 0; i < images.images(); ++i) {
        images.read_probs(i, {0, images.grid().pixels()}, probs);  // checks every value
        predictor.sets(probs, sets);
        const auto members = std::accumulate(sets.begin(), sets.end(), std::size_t{0});
        std::printf("image %zu: %.3f classes in a pixel's set\n", i,
                    static_cast<double>(members) / static_cast<double>(images.grid().pixels()));
    }
} catch (const kandinsky::Error& error) {
    std::fprintf(stderr, "predict: %s\n", error.what());
    return static_cast<int>(error.kind());
}
