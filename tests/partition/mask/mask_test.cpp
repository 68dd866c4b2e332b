#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kandinsky/error.hpp>
#include "partition/method.hpp"

namespace kandinsky {
namespace {

Partition fit(const Array& map, std::uint32_t stratum = 0, std::size_t strata = 2) {
    MethodSettings settings;
    settings.arrays["mask"] = map;
    PartitionInput input;
    input.grid = {2, 3};
    input.stratum = stratum;
    input.strata = map.shape().size() == 3 ? strata : 1;
    input.settings = &settings;
    return method("mask").fit(input);
}

/// The error that fit() must throw for this map.
Error failure(const Array& map, std::uint32_t stratum = 0) {
    try {
        (void)fit(map, stratum);
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "accepted";
    return {ErrorKind::internal, ""};
}

using Numbers = std::vector<std::int32_t>;

TEST(MaskMethod, RenumbersTheUsersRegionsInAscendingOrder) {
    const Partition partition = fit(Array::copy_of(Numbers{40, 7, 7, 0, 40, 40}, {2, 3}));
    EXPECT_EQ(partition.regions, 3u);
    EXPECT_EQ(partition.region, (std::vector<std::uint32_t>{2, 1, 1, 0, 2, 2}));
    EXPECT_NE(partition.geometry.find("[0, 7, 40]"), std::string::npos) << partition.geometry;
}

TEST(MaskMethod, TakesTheMapOfItsOwnClass) {
    const Array maps = Array::copy_of(Numbers{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, {2, 2, 3});
    EXPECT_EQ(fit(maps, 0).regions, 1u);
    EXPECT_EQ(fit(maps, 1).region, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
}

TEST(MaskMethod, ReadsNoMapOfAnotherClass) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const maps = ::mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(maps, MAP_FAILED);
    auto* const own = static_cast<std::byte*>(maps) + page;  // the maps of classes 0 and 2 cannot be read
    ASSERT_EQ(::mprotect(own, page, PROT_READ | PROT_WRITE), 0);
    own[4] = std::byte{9};
    const Array all(ArrayView{
        static_cast<std::byte*>(maps), DType::uint8, {3, 2, 3}, {static_cast<std::ptrdiff_t>(page), 3, 1}});
    EXPECT_EQ(fit(all, 1, 3).region, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 0}));
    ::munmap(maps, 3 * page);
}

TEST(MaskMethod, RefusesAMapOfAnotherGridOrKind) {
    EXPECT_EQ(failure(Array::copy_of(Numbers(6, 0), {3, 2})).kind(), ErrorKind::data);
    EXPECT_EQ(failure(Array::copy_of(Numbers(6, 0), {6})).kind(), ErrorKind::data);
    EXPECT_EQ(failure(Array::copy_of(std::vector<float>(6, 0), {2, 3})).kind(), ErrorKind::data);
    EXPECT_EQ(failure(Array::copy_of(Numbers(6, 0), {1, 2, 3}), 1).kind(), ErrorKind::data);
}

TEST(MaskMethod, RefusesAnotherNumberOfPlanesThanCurves) {
    const Array three = Array::copy_of(Numbers(18, 0), {3, 2, 3});
    EXPECT_EQ(failure(three).kind(), ErrorKind::data);
    EXPECT_EQ(fit(three, 2, 3).regions, 1u);
    EXPECT_THROW((void)fit(three, 0, 1), Error);  // classes pooled
}

TEST(MaskMethod, NamesThePlaceOfANegativeRegion) {
    const Error error = failure(Array::copy_of(Numbers{0, 1, 2, 3, -4, 5}, {2, 3}));
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("-4 at row 1, column 1"), std::string::npos) << error.what();
}

TEST(MaskMethod, RequiresAMap) {
    PartitionInput input;
    input.grid = {2, 3};
    try {
        (void)method("mask").fit(input);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find("`mask REGIONS.npy`"), std::string::npos);
    }
}

}  // namespace
}  // namespace kandinsky
