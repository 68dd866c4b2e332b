#include "core/kernel/label_kernels_scalar.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kSizes[] = {0, 1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 512};

Bytes some_bytes(std::size_t n, std::uint64_t most, std::uint64_t seed) {
    Random random(seed, n);
    Bytes bytes(n);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(most + 1));
    return bytes;
}

/// The result of one kernel, one byte off every alignment; bytes beside the result must not change.
struct Split {
    Bytes member, valid;
    bool known = false;
    template <class Kernel>
    Split(Kernel kernel, const Bytes& labels, const Bytes& ignored, std::size_t classes)
        : member(classes * (labels.size() + 3) + 1, 9), valid(labels.size() + 2, 9) {
        known = kernel(labels.data(), labels.size(), ignored, classes, member.data() + 1, labels.size() + 3,
                       valid.data() + 1);
    }
    bool operator==(const Split&) const = default;
};

TEST(LabelKernels, LabelsAreSplitAsDefinedOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes)
            for (const std::size_t classes :
                 {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{256}})
                for (const Bytes& ignored : {Bytes{}, Bytes{255}, Bytes{0, 3, 254}})
                    for (const std::uint64_t most : {classes - 1, std::size_t{255}}) {
                        const Bytes labels = some_bytes(n, most, classes);
                        ASSERT_EQ(Split(split_bytes, labels, ignored, classes),
                                  Split(split_bytes_scalar, labels, ignored, classes))
                            << n << " labels up to " << most << ", " << classes << " classes";
                    }
    });
}

TEST(LabelKernels, AnInvalidLabelIsDetectedAtEveryPlaceUnlessItIsIgnored) {
    test::for_each_target([] {
        for (std::size_t at = 0; at < 150; ++at) {
            Bytes labels = some_bytes(150, 2, 4);
            EXPECT_TRUE(Split(split_bytes, labels, {}, 3).known);
            labels[at] = 7;
            EXPECT_FALSE(Split(split_bytes, labels, {}, 3).known) << at;
            EXPECT_FALSE(Split(split_bytes, labels, {8}, 3).known) << at;
            const Split ignored(split_bytes, labels, {8, 7}, 3);
            EXPECT_TRUE(ignored.known) << at;
            EXPECT_EQ(ignored.valid[at + 1], 0) << at;
        }
    });
}

TEST(LabelKernels, AnIgnoredClassHasNoMembers) {
    const Split split(split_bytes, Bytes{0, 1, 0}, Bytes{1}, 2);
    EXPECT_TRUE(split.known);
    EXPECT_EQ(split.valid, (Bytes{9, 1, 0, 1, 9}));
    EXPECT_EQ(split.member, (Bytes{9, 1, 0, 1, 9, 9, 9, 0, 0, 0, 9, 9, 9}));
}

TEST(LabelKernels, SumsAgreeWithTheirDefinitionsOnEveryVectorUnit) {
    test::for_each_target([] {
        for (const std::size_t n : kSizes) {
            const Bytes more = some_bytes(n + 1, 255, 5), sums = some_bytes(n + 1, 255, 6);
            Bytes got = sums, expected = sums;
            add_bytes(more.data() + 1, n, got.data());
            add_bytes_scalar(more.data() + 1, n, expected.data());
            ASSERT_EQ(got, expected) << n;
            ASSERT_EQ(sum_bytes(more.data() + 1, n), sum_bytes_scalar(more.data() + 1, n)) << n;
        }
    });
}

}  // namespace
}  // namespace kandinsky
