#include "score/census.hpp"

#include <gtest/gtest.h>

#include <kandinsky/calibrator.hpp>
#include <kandinsky/threads.hpp>
#include <set>

#include "core/data/dataset_access.hpp"
#include "core/kernel/half.hpp"
#include "io/support.hpp"
#include "score/scoring.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using test::Made;
using test::make;
using test::Recipe;
using test::shuffled;

Census census_of(const Made& made, Condition condition = Condition::by_class) {
    return take_census(made.dataset(), condition, silent());
}

void expect_counts(const Made& made, Condition condition) {
    const Census census = census_of(made, condition);
    ASSERT_EQ(census.strata, condition == Condition::none ? 1 : made.recipe.classes);
    std::uint64_t ignored = 0;
    std::vector<std::uint32_t> counts(census.strata * made.pixels());
    std::vector<std::uint64_t> totals(census.strata);
    for (std::size_t n = 0; n < made.recipe.images; ++n)
        for (std::size_t p = 0; p < made.pixels(); ++p) {
            ignored += !made.valid(n, p);
            for (std::size_t c = 0; c < made.recipe.classes; ++c) {
                const std::size_t s = condition == Condition::none ? 0 : c;
                counts[s * made.pixels() + p] += made.has(n, c, p);
                totals[s] += made.has(n, c, p);
            }
        }
    EXPECT_EQ(census.counts, counts);
    EXPECT_EQ(census.totals, totals);
    EXPECT_EQ(census.ignored, ignored);
}

TEST(Census, CountsWhatIsThere) {
    for (const Condition condition : {Condition::by_class, Condition::none}) {
        expect_counts(make({.images = 9, .classes = 3, .seed = 1, .ignored = 0.2}), condition);
        expect_counts(make({.images = 5, .classes = 3, .seed = 2, .overlapping = true}), condition);
        expect_counts(make({.images = 2, .classes = 2, .grid = {70, 61}, .seed = 3}),
                      condition);  // two tiles
    }
}

TEST(Census, DoesNotDependOnTheOrderOfImagesOrThreads) {
    const Made made = make({.images = 7, .grid = {70, 130}, .seed = 4, .groups = 3});
    const Census first = census_of(made);
    for (const std::size_t threads : {1u, 2u, 3u}) {
        const ThreadLimit limit(threads);
        const std::vector<std::uint32_t> order = shuffled(7, threads);
        const Census other = census_of(made.permuted(order));
        EXPECT_EQ(other.fingerprint, first.fingerprint);
        EXPECT_EQ(other.counts, first.counts);
        for (std::size_t i = 0; i < order.size(); ++i)
            EXPECT_EQ(other.image_hash[i], first.image_hash[order[i]]);
    }
}

TEST(Census, HashesDoNotDependOnTheSignOfZero) {
    // With four steps a fifth of the probabilities is 0, and halves hold all of them exactly.
    const Made made = make({.images = 5, .classes = 3, .grid = {8, 24}, .seed = 6, .steps = 4});
    Made negative = made;
    for (float& p : negative.probs)
        if (p == 0) p = -0.0f;
    std::vector<std::uint16_t> halves;
    for (const float p : negative.probs) halves.push_back(float_to_half(p));
    const Dataset stored(Array({reinterpret_cast<const std::byte*>(halves.data()),
                                DType::float16,
                                {5, 3, 8, 24},
                                {1152, 384, 48, 2}},
                               nullptr),
                         Array::copy_of(made.truth, {5, 8, 24}), {});
    const Census wanted = census_of(made);
    for (const Dataset& data : {negative.dataset(), stored}) {
        const Census found = take_census(data, Condition::by_class, silent());
        EXPECT_EQ(found.image_hash, wanted.image_hash);
        EXPECT_EQ(found.fingerprint, wanted.fingerprint);
        for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(content_key(data, n), content_key(made.dataset(), n));
    }
    EXPECT_EQ(image_key(3, 192, negative.probs.data()), content_key(made.dataset(), 0));
}

TEST(Census, TheFingerprintChangesWithEveryValueLabelAndGroup) {
    const Made made = make({.images = 3, .classes = 2, .grid = {2, 3}, .seed = 5, .groups = 2});
    std::set<std::array<std::uint64_t, 2>> seen{census_of(made).fingerprint};
    std::size_t changes = 1;
    for (std::size_t i = 0; i < made.probs.size(); ++i, ++changes) {
        Made other = made;
        other.probs[i] = std::nextafter(other.probs[i], 0.5f);
        seen.insert(census_of(other).fingerprint);
    }
    for (std::size_t i = 0; i < made.truth.size(); ++i)
        for (const int value : {0, 1, 255}) {
            if (value == made.truth[i]) continue;
            Made other = made;
            other.truth[i] = static_cast<std::uint8_t>(value);
            seen.insert(census_of(other).fingerprint);
            ++changes;
        }
    for (std::size_t i = 0; i < made.groups.size(); ++i, ++changes) {
        Made other = made;
        other.groups[i] += 1000;
        seen.insert(census_of(other).fingerprint);
    }
    EXPECT_EQ(seen.size(), changes);
}

TEST(Census, DistinguishesAMultisetOfImagesFromTheSet) {
    const Made made = make({.images = 3, .seed = 6});
    EXPECT_NE(census_of(made).fingerprint, census_of(made.permuted({0, 1, 2, 2})).fingerprint);
    EXPECT_NE(census_of(made.permuted({0, 1, 1, 2})).fingerprint,
              census_of(made.permuted({0, 1, 2, 2})).fingerprint);
    // Two equal images must not cancel out.
    EXPECT_NE(census_of(made.permuted({0, 1, 1})).fingerprint,
              census_of(made.permuted({0, 2, 2})).fingerprint);
}

TEST(Census, ExchangedGroupsOfTwoImagesChangeTheFingerprint) {
    Made made = make({.images = 2, .seed = 7, .groups = 1});
    made.groups = {1, 2};
    const auto first = census_of(made).fingerprint;
    made.groups = {2, 1};
    EXPECT_NE(census_of(made).fingerprint, first);
}

TEST(Census, FindsABadValueBeforeAnyWork) {
    Made made = make({.images = 2, .seed = 8});
    made.probs[13] = 2;
    test::expect_error(ErrorKind::data, {"probability 2", "class 1"}, [&] { (void)census_of(made); });
    made.probs[13] = 0;
    made.truth[3] = 9;
    test::expect_error(ErrorKind::data, {"label 9"}, [&] { (void)census_of(made); });
}

TEST(Census, CalibrationNeedsLabels) {
    const Dataset data(Array::zeros(DType::float32, {2, 2, 3, 3}), {.probs_name = "p.npy"});
    test::expect_error(ErrorKind::usage, {"p.npy", "no labels"},
                       [&] { (void)take_census(data, Condition::none, silent()); });
    for (const char* const method : {"image", "kmeans", "field", "auto"}) {
        CalibrateOptions options;
        options.method.name = method;
        test::expect_error(ErrorKind::usage, {"p.npy", "no labels"}, [&] { (void)calibrate(data, options); });
    }
}

}  // namespace
}  // namespace kandinsky
