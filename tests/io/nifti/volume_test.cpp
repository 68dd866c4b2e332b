#include "io/nifti/volume.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <kandinsky/error.hpp>
#include <limits>

#include "io/support.hpp"

namespace kandinsky {
namespace {

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// A NIfTI-1 file by the standard's table of offsets, independent of libnifti.
std::string nifti_file(const std::vector<std::int16_t>& extents, std::int16_t datatype, std::int16_t bits,
                       const std::string& voxels) {
    std::string bytes(352, '\0');
    put<std::int32_t>(bytes, 0, 348);
    put(bytes, 40, static_cast<std::int16_t>(extents.size()));
    for (std::size_t i = 0; i < 7; ++i)
        put<std::int16_t>(bytes, 42 + 2 * i, i < extents.size() ? extents[i] : std::int16_t{1});
    put(bytes, 70, datatype);
    put(bytes, 72, bits);
    for (std::size_t i = 0; i < 8; ++i) put(bytes, 76 + 4 * i, 1.0f);
    put(bytes, 108, 352.0f);
    std::memcpy(bytes.data() + 344, "n+1", 4);
    return bytes + voxels;
}

std::string gzip(const std::string& bytes) {
    z_stream z{};
    EXPECT_EQ(::deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(bytes.size() + 1000, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(bytes.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::deflate(&z, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - z.avail_out);
    ::deflateEnd(&z);
    return out;
}

class NiftiFile : public ::testing::Test {
  protected:
    std::filesystem::path write(const std::string& bytes) {
        test::spill(path_, bytes);
        return path_;
    }
    /// The message of the error that reading throws; empty if it throws none.
    std::string complaint(const std::string& bytes) {
        write(bytes);
        try {
            (void)read_nifti_header(path_);
            (void)read_nifti(path_);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            EXPECT_NE(std::string(error.what()).find("volume.nii"), std::string::npos) << error.what();
            return error.what();
        }
        return {};
    }
    std::string counting(std::size_t count) {
        std::string voxels;
        for (std::size_t i = 0; i < count; ++i) voxels += static_cast<char>(i * 7 % 251);
        return voxels;
    }

  private:
    test::Folder folder_;
    std::filesystem::path path_ = folder_ / "volume.nii";
};

TEST_F(NiftiFile, IsRefusedWhereverItIsCut) {
    const std::string whole = nifti_file({3, 4, 5}, 2, 8, counting(60));
    EXPECT_EQ(complaint(whole), "");
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
        EXPECT_NE(complaint(whole.substr(0, cut)), "") << "cut after " << cut << " bytes";
}

TEST_F(NiftiFile, IsRefusedWhereverItsCompressedFormIsCut) {
    const std::string whole = gzip(nifti_file({3, 4, 5}, 2, 8, counting(60)));
    EXPECT_EQ(complaint(whole), "");
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
        EXPECT_NE(complaint(whole.substr(0, cut)), "") << "cut after " << cut << " bytes";
}

TEST_F(NiftiFile, AnyDamagedByteOfTheCompressedFormEitherShowsOrChangesNothing) {
    const std::string plain = nifti_file({3, 4, 5}, 2, 8, counting(60));
    const std::string whole = gzip(plain);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        try {
            const Array array = read_nifti(write(damaged));
            EXPECT_EQ(std::memcmp(array.view().data, plain.data() + 352, 60), 0) << "byte " << i;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::data);
        }
    }
}

TEST_F(NiftiFile, AnyDamagedByteOfTheHeaderIsRefusedOrHarmless) {
    const std::string whole = nifti_file({3, 4, 5}, 2, 8, counting(60));
    for (std::size_t i = 0; i < 352; ++i)
        for (const unsigned mask : {0x01u, 0x80u, 0xFFu}) {
            std::string damaged = whole;
            damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ mask);
            (void)complaint(damaged);  // checks kind and form of what is thrown; must not crash
        }
}

TEST_F(NiftiFile, MembersOfACompressedFileFollowEachOther) {
    const std::string plain = nifti_file({3, 4, 5}, 2, 8, counting(60));
    const Array array = read_nifti(
        write(gzip(plain.substr(0, 200)) + gzip(plain.substr(200, 180)) + gzip(plain.substr(380))));
    EXPECT_EQ(std::memcmp(array.view().data, plain.data() + 352, 60), 0);
}

TEST_F(NiftiFile, AClaimTooLargeForTheFileIsRefusedBeforeAnythingIsAllocated) {
    std::string lying = nifti_file({32767, 32767, 32767}, 64, 64, "");
    EXPECT_NE(complaint(lying).find("claims"), std::string::npos);
    EXPECT_NE(complaint(gzip(lying)).find("claims"), std::string::npos);
    lying = nifti_file({32767, 32767, 32767, 32767, 1, 1, 1}, 64, 64, "");
    EXPECT_NE(complaint(lying).find("claims"), std::string::npos);
    lying = nifti_file({3, -4, 5}, 2, 8, "");
    EXPECT_NE(complaint(lying).find("-4 voxels"), std::string::npos);
    lying = nifti_file({3, 4, 5}, 2, 8, counting(60));
    put(lying, 108, std::numeric_limits<float>::infinity());
    EXPECT_NE(complaint(lying).find("begin at byte"), std::string::npos);
    put(lying, 108, 1e9f);
    EXPECT_NE(complaint(lying).find("claims"), std::string::npos);
}

TEST_F(NiftiFile, WhatIsNoNumberIsRefused) {
    EXPECT_NE(complaint(nifti_file({3, 4, 5}, 128, 24, counting(180))).find("type 128"), std::string::npos);
    EXPECT_NE(complaint(std::string(400, 'x')).find("not a NIfTI"), std::string::npos);
    std::string pair = nifti_file({3, 4, 5}, 2, 8, counting(60));
    pair[345] = 'i';
    EXPECT_NE(complaint(pair).find("single-file"), std::string::npos);
    EXPECT_NE(complaint(nifti_file({2, 2, 2, 2, 2}, 2, 8, counting(32))).find("axes"), std::string::npos);
}

TEST_F(NiftiFile, NanStaysNan) {
    std::string voxels(4 * 4, '\0');
    put(voxels, 4, std::nanf(""));
    const Array array = read_nifti(write(nifti_file({2, 2, 1}, 16, 32, voxels)));
    EXPECT_TRUE(std::isnan(array.data_as<float>()[1]));
    EXPECT_EQ(array.data_as<float>()[2], 0.0f);
}

TEST_F(NiftiFile, ASlopeOfZeroOrNanMeansNone) {
    std::string bytes = nifti_file({3, 4, 5}, 2, 8, counting(60));
    for (const float slope : {0.0f, std::nanf("")}) {
        put(bytes, 112, slope);
        put(bytes, 116, 5.0f);
        EXPECT_FALSE(read_nifti_header(write(bytes)).scaled());
    }
    put(bytes, 112, 0.5f);
    const NiftiHeader header = read_nifti_header(write(bytes));
    const Array values = scaled_values(header, read_nifti(write(bytes)), DType::float32);
    EXPECT_EQ(values.data_as<float>()[3], 0.5f * 21 + 5);
}

TEST_F(NiftiFile, AnAffineWithoutDirectionsIsRefused) {
    std::string bytes = nifti_file({3, 4, 5}, 2, 8, counting(60));
    put<std::int16_t>(bytes, 254, 1);  // sform, all zero
    EXPECT_NE(complaint(bytes).find("singular"), std::string::npos);
    put(bytes, 280, 1.0f);  // x and y have a direction, z has none
    put(bytes, 300, 1.0f);
    EXPECT_NE(complaint(bytes).find("singular"), std::string::npos);
    put(bytes, 280, std::nanf(""));
    EXPECT_NE(complaint(bytes).find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace kandinsky
