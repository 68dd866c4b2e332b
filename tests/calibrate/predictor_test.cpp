#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <kandinsky/predict.hpp>
#include <new>
#include <thread>

#include "core/kernel/half.hpp"
#include "io/support.hpp"
#include "support/naive.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}

// Every call of operator new in this program is counted. The array forms call the plain forms. The
// functions are not inlined; otherwise the compiler might pair one of them with the library's counterpart.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
// Without this function a sanitizer would use its own version, which is incompatible with these.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
    ++allocations;
    void* memory = nullptr;
    const int failed = ::posix_memalign(&memory, static_cast<std::size_t>(alignment), size > 0 ? size : 1);
    return failed == 0 ? memory : nullptr;
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (void* const memory = operator new(size, alignment, std::nothrow)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
    return operator new(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
    return operator new(size, alignment);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace kandinsky {
namespace {

using namespace test;

Calibrator calibrator_of(const Made& made, const std::string& method, Pooling pooling, Condition condition,
                         std::size_t rungs = 20) {
    CalibrateOptions options{.score = {}};
    options.method.name = method;
    options.pooling = pooling;
    options.condition = condition;
    options.rungs = rungs;
    return calibrate(made.dataset(), options);
}

/// The width of the grid is no multiple of eight.
const Recipe kRecipe{.images = 30, .classes = 3, .grid = {3, 11}, .seed = 1, .steps = 40};

std::span<const float> image_of(const Made& made, std::size_t n) {
    const std::size_t each = made.recipe.classes * made.pixels();
    return std::span(made.probs).subspan(n * each, each);
}

TEST(Predictor, AClassIsInTheSetExactlyWhenItsScoreIsAtMostTheThreshold) {
    const Made made = make(kRecipe);
    for (const std::string method : {"pixel", "image"})
        for (const Condition condition : {Condition::by_class, Condition::none})
            for (const double alpha : {0.0, 0.05, 0.1, 0.3, 0.95, 1.0}) {
                const Calibrator calibrator = calibrator_of(made, method, Pooling::pixels, condition);
                const Predictor predictor(calibrator, alpha, EmptySets::keep);
                const auto limits = score_thresholds(calibrator, alpha);
                std::vector<std::uint8_t> sets(limits.size());
                for (std::size_t n = 0; n < made.recipe.images; ++n) {
                    const auto probs = image_of(made, n);
                    predictor.sets(probs, sets);
                    for (std::size_t i = 0; i < sets.size(); ++i)
                        ASSERT_EQ(sets[i] != 0, 1.0f - probs[i] <= limits[i]);
                }
            }
}

TEST(Predictor, PackedSetsAreTheSameSetsAsBitsWithTheFirstColumnHighest) {
    const Made made = make(kRecipe);
    const Predictor predictor(calibrator_of(made, "pixel", Pooling::pixels, Condition::by_class), 0.2);
    ASSERT_EQ(predictor.packed_width(), 2u);
    std::vector<std::uint8_t> sets(3 * 33), bits(3 * 3 * 2, 0xFF);
    predictor.sets(image_of(made, 4), sets);
    predictor.packed_sets(image_of(made, 4), bits);
    for (std::size_t row = 0; row < 9; ++row)
        for (std::size_t x = 0; x < 16; ++x) {
            const int bit = bits[row * 2 + x / 8] >> (7 - x % 8) & 1;
            EXPECT_EQ(bit, x < 11 ? sets[row * 11 + x] : 0) << row << " " << x;
        }
}

TEST(Predictor, ANaNIsInNoSetAndInfiniteThresholdsAcceptEverything) {
    const Made made = make({.images = 2, .classes = 2, .grid = {1, 1}});
    const Predictor predictor(calibrator_of(made, "image", Pooling::pixels, Condition::by_class), 0.0);
    std::uint8_t sets[2];
    const float probs[2]{0.0f, std::numeric_limits<float>::quiet_NaN()};
    predictor.sets(probs, sets);
    EXPECT_EQ(sets[0], 1);
    EXPECT_EQ(sets[1], 0);
}

TEST(Predictor, ANaNHasThePValueZero) {
    const Made made = make({.images = 40, .classes = 2, .grid = {6, 8}});
    for (const Adapt adapt : {Adapt::none, Adapt::image})
        for (const char* const method : {"image", "pixel", "field"}) {
            CalibrateOptions options{.score = {}};
            options.method.name = method;
            options.adapt = adapt;
            const Calibrator calibrator = calibrate(made.dataset(), options);
            ASSERT_EQ(calibrator.adapts(), adapt == Adapt::image) << method;
            std::vector<float> probs(image_of(made, 0).begin(), image_of(made, 0).end()), p(probs.size());
            for (std::size_t i = 0; i < probs.size(); i += 5)
                probs[i] = std::numeric_limits<float>::quiet_NaN();
            p_values(calibrator, probs, p);
            for (std::size_t i = 0; i < p.size(); ++i)
                ASSERT_EQ(p[i] == 0, i % 5 == 0) << method << " " << i << " " << p[i];
        }
}

TEST(Predictor, AllocatesNothingPerImage) {
    const Made made = make(kRecipe);
    const Calibrator calibrator = calibrator_of(made, "pixel", Pooling::pixels, Condition::by_class);
    std::vector<std::uint8_t> sets(3 * 33), bits(3 * 3 * 2);
    const std::vector<std::uint16_t> halves(3 * 33, 0x3800);
    for (const EmptySets empty : {EmptySets::keep, EmptySets::fill}) {
        const Predictor predictor(calibrator, 0.1, empty);
        // Bits of filled sets need scratch, which a thread keeps from its first image on.
        if (empty == EmptySets::fill) predictor.packed_sets(image_of(made, 0), bits);
        const std::size_t before = allocations;
        ::operator delete(::operator new(1));
        constexpr std::align_val_t kLine{64};
        void* const line = ::operator new(64, kLine);
        ::operator delete(line, kLine);
        ASSERT_EQ(allocations, before + 2) << "the counter does not count";
        for (std::size_t n = 0; n < made.recipe.images; ++n) {
            predictor.sets(image_of(made, n), sets);
            predictor.packed_sets(image_of(made, n), bits);
            (void)predictor.half_sets(halves, sets);
        }
        EXPECT_EQ(allocations, before + 2);
    }
}

TEST(Predictor, AllocatesNothingPerImageAfterTheFirstForOtherScores) {
    const Made made = make(kRecipe);
    for (const ScoreOptions& score :
         {ScoreOptions{.kind = ScoreKind::near}, ScoreOptions{.kind = ScoreKind::margin},
          ScoreOptions{.kind = ScoreKind::raps}, ScoreOptions{.kind = ScoreKind::aps, .randomized = true}}) {
        CalibrateOptions options{.score = {}};
        options.method.name = "image";
        options.score = score;
        const Calibrator calibrator = calibrate(made.dataset(), options);
        const Predictor predictor(calibrator, 0.1, EmptySets::fill);
        std::vector<std::uint8_t> sets(3 * 33), bits(3 * 3 * 2);
        std::vector<float> p(3 * 33);
        const Dataset data = made.dataset();
        std::size_t before = 0;
        for (std::size_t n = 0; n < made.recipe.images; ++n) {
            predict_image(predictor, data, n, SetForm::bytes, sets);
            predict_image(predictor, data, n, SetForm::bits, bits);
            predictor.sets(image_of(made, n), sets);
            predictor.packed_sets(image_of(made, n), bits);
            p_values(calibrator, image_of(made, n), p);
            if (n == 0) before = allocations;
        }
        EXPECT_EQ(allocations, before) << describe(score);
    }
}

TEST(Predictor, HalvesGiveTheSetsOfTheFloatsTheyStandFor) {
    const Made made = make(kRecipe);
    const Calibrator calibrator = calibrator_of(made, "pixel", Pooling::pixels, Condition::by_class);
    for (const double alpha : {0.0, 0.05, 0.3, 0.95, 1.0, -0.05, -0.95}) {
        const Predictor predictor(calibrator, std::abs(alpha), alpha < 0 ? EmptySets::keep : EmptySets::fill);
        std::vector<std::uint16_t> halves(3 * 33);
        std::vector<float> floats(halves.size());
        std::vector<std::uint8_t> expected(halves.size()), got(halves.size(), 9);
        for (std::uint32_t first = 0; first <= 0x3C00; first += 99) {
            for (std::size_t i = 0; i < halves.size(); ++i) {
                halves[i] = static_cast<std::uint16_t>(std::min<std::size_t>(first + i, 0x3C00));
                floats[i] = half_to_float(halves[i]);
            }
            const std::uint64_t filled = predictor.sets(floats, expected);
            ASSERT_EQ(predictor.half_sets(halves, got), filled);
            ASSERT_EQ(got, expected);
        }
        halves[50] = 0x7E00;
        EXPECT_FALSE(predictor.half_sets(halves, got));
    }
}

TEST(Predictor, IsSharedByThreads) {
    const Made made = make(kRecipe);
    const Calibrator calibrator = calibrator_of(made, "pixel", Pooling::pixels, Condition::by_class);
    const Predictor predictor(calibrator, 0.1);
    std::vector<std::vector<std::uint8_t>> alone;
    for (std::size_t n = 0; n < made.recipe.images; ++n) {
        alone.emplace_back(3 * 33);
        predictor.sets(image_of(made, n), alone.back());
    }
    std::atomic<std::size_t> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                std::vector<std::uint8_t> sets(3 * 33);
                std::vector<float> p(3 * 33);
                for (int round = 0; round < 50; ++round)
                    for (std::size_t n = 0; n < made.recipe.images; ++n) {
                        predictor.sets(image_of(made, n), sets);
                        p_values(calibrator, image_of(made, n), p);
                        wrong += sets != alone[n];
                        for (std::size_t i = 0; i < p.size(); ++i) wrong += (p[i] > 0.1f) != (sets[i] != 0);
                    }
            });
    }
    EXPECT_EQ(wrong, 0u);
}

TEST(Predictor, RefusesBuffersOfAnotherSize) {
    const Made made = make(kRecipe);
    const Predictor predictor(calibrator_of(made, "image", Pooling::pixels, Condition::by_class), 0.1);
    std::vector<std::uint8_t> sets(3 * 33);
    std::vector<float> probs(3 * 33 - 1);
    expect_error(ErrorKind::usage, {"probs has 98", "99"}, [&] { predictor.sets(probs, sets); });
    probs.resize(99);
    expect_error(ErrorKind::usage, {"bits has 99", "18"}, [&] { predictor.packed_sets(probs, sets); });
    sets.pop_back();
    expect_error(ErrorKind::usage, {"sets has 98"}, [&] { predictor.sets(probs, sets); });
}

TEST(PValues, ExceedAlphaExactlyForTheClassesOfTheSet) {
    // Few and many scores a curve: complete curves and ladders, groups of one and of several images.
    for (const std::size_t groups : {0u, 7u})
        for (const std::size_t images : {9u, 30u, 99u}) {
            Recipe recipe = kRecipe;
            recipe.images = images;
            recipe.groups = groups;
            const Made made = make(recipe);
            for (const std::string method : {"pixel", "image"})
                for (const Condition condition : {Condition::by_class, Condition::none}) {
                    const Calibrator calibrator =
                        calibrator_of(made, method, Pooling::groups, condition, 100);
                    std::vector<float> p(99);
                    p_values(calibrator, image_of(made, 2), p);
                    for (int a = 1; a < 100; ++a) {
                        const double alpha = a / 100.0;
                        std::vector<std::uint8_t> sets(99);
                        Predictor(calibrator, alpha, EmptySets::keep).sets(image_of(made, 2), sets);
                        for (std::size_t i = 0; i < p.size(); ++i) {
                            ASSERT_EQ(static_cast<double>(p[i]) > alpha, sets[i] != 0)
                                << alpha << " " << p[i];
                            ASSERT_EQ(p[i] > static_cast<float>(alpha), sets[i] != 0) << alpha << " " << p[i];
                        }
                    }
                }
        }
}

}  // namespace
}  // namespace kandinsky
