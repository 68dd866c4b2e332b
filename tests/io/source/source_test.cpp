#include "io/source/source.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <kandinsky/error.hpp>
#include <numeric>

namespace kandinsky {
namespace {

std::uint32_t at(const ArrayView& view, const std::vector<std::size_t>& index) {
    const std::byte* place = view.data;
    for (std::size_t i = 0; i < index.size(); ++i)
        place += static_cast<std::ptrdiff_t>(index[i]) * view.strides[i];
    return *reinterpret_cast<const std::uint32_t*>(place);
}

TEST(VolumeView, SlicesOfATurnedVolumeAreWhereTheAxesSay) {
    EXPECT_TRUE(rc::check([] {
        std::vector<std::size_t> shape;
        for (int i = 0; i < 4; ++i) shape.push_back(*rc::gen::inRange<std::size_t>(1, 5));
        std::vector<std::uint32_t> values(shape[0] * shape[1] * shape[2] * shape[3]);
        std::iota(values.begin(), values.end(), 0u);
        const ArrayView stored{reinterpret_cast<const std::byte*>(values.data()), DType::uint32, shape,
                               c_strides(shape, DType::uint32)};
        Orientation turn;
        for (int i = *rc::gen::inRange(0, 6); i > 0; --i)
            std::next_permutation(turn.stored.begin(), turn.stored.end());
        for (bool& flipped : turn.flipped) flipped = *rc::gen::arbitrary<bool>();
        const Axis axis = *rc::gen::element(Axis::axial, Axis::coronal, Axis::sagittal);
        const SliceAxes axes = slice_axes(axis);
        const ArrayView slices = as_slices(stored, turn, axis);
        for (std::size_t s = 0; s < slices.shape[0]; ++s)
            for (std::size_t c = 0; c < slices.shape[1]; ++c)
                for (std::size_t y = 0; y < slices.shape[2]; ++y)
                    for (std::size_t x = 0; x < slices.shape[3]; ++x) {
                        std::vector<std::size_t> index{0, 0, 0, c};
                        for (const auto& [canonical, i] :
                             {std::pair(axes.slice, s), std::pair(axes.row, y), std::pair(axes.column, x)}) {
                            const std::size_t own = turn.stored[canonical];
                            index[own] = turn.flipped[canonical] ? shape[own] - 1 - i : i;
                        }
                        RC_ASSERT(at(slices, {s, c, y, x}) == at(stored, index));
                    }
        // as_stored() gives the original view, with its axes in the order of a file.
        ArrayView back = as_stored(slices, turn, axis);
        std::reverse(back.shape.begin(), back.shape.end());
        std::reverse(back.strides.begin(), back.strides.end());
        RC_ASSERT(back.data == stored.data);
        RC_ASSERT(back.shape == stored.shape);
        RC_ASSERT(back.strides == stored.strides);
    }));
}

TEST(VolumeView, AnUnknownAxisIsAnError) {
    EXPECT_EQ(axis_of("coronal"), Axis::coronal);
    EXPECT_THROW((void)axis_of("oblique"), Error);
}

}  // namespace
}  // namespace kandinsky
