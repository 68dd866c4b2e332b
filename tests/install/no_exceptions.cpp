// Built with -fno-exceptions: loads a calibrator and predicts the sets of one image.
#include <cstdio>
#include <kandinsky/kandinsky.hpp>

int main(int argc, char** argv) {
    const auto calibrator = kandinsky::try_load(argc > 1 ? argv[1] : "missing.kcal");
    if (!calibrator) {
        std::fprintf(stderr, "%s\n", calibrator.error().what());
        return static_cast<int>(calibrator.error().kind());
    }
    const auto predictor = kandinsky::try_predictor(*calibrator, 0.1);
    if (!predictor) return static_cast<int>(predictor.error().kind());
    const std::vector<float> probs(calibrator->classes * calibrator->grid.pixels(), 0.5F);
    std::vector<std::uint8_t> sets(probs.size());
    std::printf("%llu sets were filled\n", static_cast<unsigned long long>(predictor->sets(probs, sets)));
}
