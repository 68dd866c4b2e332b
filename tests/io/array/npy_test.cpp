#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <kandinsky/npy.hpp>
#include <thread>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::elements;
using test::expect_error;
using test::Folder;
using test::spill;

/// A npy file by hand: version, header text and elements.
std::string npy(int major, const std::string& header, const std::string& payload = "", int minor = 0) {
    std::string out = "\x93NUMPY";
    out += static_cast<char>(major);
    out += static_cast<char>(minor);
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xFF);
    return out + header + payload;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

Array parse(const std::string& bytes) {
    return parse_npy(test::bytes_of(bytes), nullptr, "in.npy");
}

void expect_refused(const std::string& bytes, const std::string& reason) {
    expect_error(ErrorKind::data, {"cannot read in.npy: ", reason}, [&] { (void)parse(bytes); });
}

TEST(Npy, EveryFormatVersionIsRead) {
    for (const int major : {1, 2, 3}) {
        const std::string file = npy(major, dict("|u1", "(3,)"), "abc");
        const Array array = parse(file);
        EXPECT_EQ(array.dtype(), DType::uint8);
        EXPECT_EQ(array.shape(), std::vector<std::size_t>{3});
        EXPECT_EQ(elements(array.view()), "abc");
    }
}

TEST(Npy, EveryNumberTypeAndPrefixIsRead) {
    const std::pair<std::string, DType> types[] = {
        {"b1", DType::boolean}, {"i1", DType::int8},    {"u1", DType::uint8},   {"i2", DType::int16},
        {"u2", DType::uint16},  {"i4", DType::int32},   {"u4", DType::uint32},  {"i8", DType::int64},
        {"u8", DType::uint64},  {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64}};
    for (const auto& [text, dtype] : types) {
        for (const std::string prefix : {"<", ">", "=", "|", ""}) {
            std::string payload = std::string("12345678").substr(0, size_of(dtype));
            const std::string file = npy(1, dict(prefix + text, "()"), payload);
            const Array array = parse(file);
            EXPECT_EQ(array.dtype(), dtype) << prefix << text;
            if (prefix == ">") std::reverse(payload.begin(), payload.end());
            EXPECT_EQ(elements(array.view()), payload) << prefix << text;
        }
    }
}

TEST(Npy, TheHeaderMayBeWrittenInAnyWayPythonWouldReadIt) {
    for (const std::string header : {
             R"({"shape":(2,3),"fortran_order":False,"descr":"<u2"})",
             "{'fortran_order': False,\n 'descr':\t'<u2' , 'shape': ( 2 , 3 , ) , }   \n\n",
             "{'descr': '<u2', 'fortran_order': False, 'shape': (2L, 3L)}",
         }) {
        const std::string file = npy(1, header, "abcdefghijkl");
        EXPECT_EQ(parse(file).shape(), (std::vector<std::size_t>{2, 3})) << header;
    }
}

TEST(Npy, HeadersThatAreNotTheExpectedDictAreRefused) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "expected '{'"},
        {"[1, 2]", "expected '{'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,)", "expected ',' or '}'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,), ", "expected a quoted string"},
        {"{'descr': '<u2' 'fortran_order': False, 'shape': (1,)}", "expected ',' or '}'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,)} x", "text after"},
        {std::string("{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}\0", 56), "text after"},
        {"{,'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "expected a quoted string"},
        {"{'descr': '<u2', 'fortran_order': False}", "needs the keys"},
        {"{}", "needs the keys"},
        {"{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "occurs twice"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,), 'extra': 1}", "unknown key 'extra'"},
        {"{'descr': '<u2', 'fortran_order': 0, 'shape': (1,)}", "expected True or False"},
        {"{'descr': <u2, 'fortran_order': False, 'shape': (1,)}", "expected a quoted string"},
        {"{'descr': '<u2, 'fortran_order': False, 'shape': (1,)}", "expected"},
        {"{'descr", "does not end"},
        {"{'de\\x73cr': '<u2', 'fortran_order': False, 'shape': (1,)}", "escapes"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1)}", "not a tuple"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': 1}", "expected '('"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1 2)}", "expected ',' or ')'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (,)}", "whole number"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,,)}", "whole number"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (-1,)}", "negative"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (01,)}", "leading zero"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1.0,)}", "expected ',' or ')'"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (18446744073709551616,)}", "64 bits"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (__import__('os'),)}", "whole number"},
    };
    for (const auto& [header, reason] : cases) {
        SCOPED_TRACE(header);
        expect_refused(npy(1, header, "ab"), reason);
        expect_refused(npy(1, header, "ab"), "npy header is malformed");
    }
    std::string axes;
    for (int i = 0; i < 65; ++i) axes += "1,";
    expect_refused(npy(1, dict("|u1", fmt::format("({})", axes)), "a"), "more than 64 axes");
    EXPECT_EQ(parse(npy(1, dict("|u1", fmt::format("({})", axes.substr(2))), "a")).shape().size(), 64u);
}

TEST(Npy, TypesThatAreNoPlainNumbersAreRefused) {
    expect_refused(npy(1, dict("|O", "(1,)"), "ab"), "pickled objects are refused; save plain numbers");
    expect_refused(npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"),
                   "structured");
    expect_refused(npy(1, "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", "abcd"),
                   "structured");
    expect_refused(npy(1, dict("|V8", "(1,)"), "abcdefgh"), "structured");
    expect_refused(npy(1, dict("|S3", "(1,)"), "abc"), "strings");
    expect_refused(npy(1, dict("<U1", "(1,)"), "abcd"), "strings");
    expect_refused(npy(1, dict("<c8", "(1,)"), "abcdefgh"), "complex");
    for (const std::string other : {"<f16", "<M8[s]", "<i3", "", "<", "f", "float32", "\x1b[31m"}) {
        SCOPED_TRACE(other);
        expect_refused(npy(1, dict(other, "(1,)"), "abcdefgh"), "is not supported");
    }
    expect_refused(npy(1, dict("\x1b[31m", "(1,)")), "'\\x1b[31m'");
}

TEST(Npy, BadMagicVersionsAndHeaderLengthsAreRefused) {
    expect_refused("", "it is empty");
    expect_refused("hello, I am text", "bad magic");
    expect_refused("PK\x03\x04zip archive", "name it .npz");
    expect_refused(npy(4, dict("|u1", "(1,)"), "a"), "version 4.0 is unknown");
    expect_refused(npy(0, dict("|u1", "(1,)"), "a"), "version 0.0 is unknown");
    expect_refused(npy(1, dict("|u1", "(1,)"), "a", 1), "version 1.1 is unknown");
    expect_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14), "claims 4294967295 bytes");
    expect_refused(std::string("\x93NUMPY\x02\x00\x00\x00\x10\x00{}", 14),
                   "the npy header alone needs 1048588");
    expect_refused(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12),
                   "there are 12 bytes, but the npy header alone needs 65545");
    expect_refused(std::string("\x93NUMPY\x02\x00\x01", 9), "preamble needs 12");
}

TEST(Npy, ShapesThatOverflowAreRefused) {
    for (const std::string shape :
         {"(4294967296, 4294967296)", "(9223372036854775807, 3)", "(18446744073709551615,)",
          "(4294967296, 0, 4294967296, 4294967296)", "(4611686018427387904, 1)", "(2305843009213693952,)"}) {
        SCOPED_TRACE(shape);
        expect_refused(npy(1, dict("<f4", shape), "abcd"), "too large for any memory");
    }
    expect_refused(npy(1, dict("|u1", "(9223372036854775807,)"), "abcd"),
                   "truncated: there are 4 bytes of elements");
}

TEST(Npy, MissingAndSurplusBytesAreCounted) {
    expect_refused(npy(1, dict("<f4", "(2, 3)"), std::string(23, 'x')),
                   "truncated: there are 23 bytes of elements, but float32 (2, 3) needs 24");
    expect_refused(npy(1, dict("<f4", "(2, 3)"), std::string(27, 'x')), "3 extra bytes after the 24 bytes");
    expect_refused(npy(1, dict("<f4", "(2, 0)"), "x"), "1 extra bytes");
    expect_refused(npy(1, dict("<f4", "()")), "needs 4");
}

TEST(Npy, EveryTruncationOfAFileIsRefused) {
    const Folder folder;
    const Array array = Array::copy_of<std::int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
    write_npy(folder / "whole.npy", array.view());
    const std::string whole = test::slurp(folder / "whole.npy");
    ASSERT_EQ(whole.size(), 128u + 24u);
    for (std::size_t length = 0; length < whole.size(); ++length) {
        spill(folder / "cut.npy", whole.substr(0, length));
        SCOPED_TRACE(length);
        expect_error(ErrorKind::data, {"cut.npy: ", length == 0 ? "empty" : "truncated"},
                     [&] { (void)read_npy(folder / "cut.npy"); });
    }
}

TEST(Npy, EveryByteFlipIsEitherRefusedOrReadWithoutFault) {
    const std::string whole = npy_header(DType::uint16, {3, 2}) + std::string(12, 'x');
    std::size_t refused = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (int value = 0; value < 256; ++value) {
            std::string flipped = whole;
            flipped[i] = static_cast<char>(value);
            try {
                const Array array = parse(flipped);
                EXPECT_EQ(elements(array.view()).size(), 12u);
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::data);
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 15000u);
}

TEST(Npy, FilesThatCannotBeOpenedAreFileErrors) {
    const Folder folder;
    expect_error(ErrorKind::file, {"cannot read", "none.npy: No such file"},
                 [&] { (void)read_npy(folder / "none.npy"); });
    expect_error(ErrorKind::file, {"Is a directory"}, [&] { (void)read_npy(folder.path()); });
    expect_error(ErrorKind::file, {"device"}, [&] { (void)read_npy("/dev/null"); });
    spill(folder / "empty.npy", "");
    expect_error(ErrorKind::data, {"empty.npy: it is empty"}, [&] { (void)read_npy(folder / "empty.npy"); });
}

TEST(Npy, AFileWithoutReadPermissionIsAFileError) {
    const Folder folder;
    spill(folder / "secret.npy", "x");
    std::filesystem::permissions(folder / "secret.npy", std::filesystem::perms::none);
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const bool root = ::geteuid() == 0;
    if (root) {
        ASSERT_EQ(::seteuid(65534), 0);
    }
    expect_error(ErrorKind::file, {"secret.npy: Permission denied"},
                 [&] { (void)read_npy(folder / "secret.npy"); });
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
}

TEST(Npy, APipeIsReadToItsEnd) {
    const Folder folder;
    const Array array = Array::copy_of<double>(std::vector<double>(50000, 0.25), {50000});
    write_npy(folder / "whole.npy", array.view());
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::thread writer([&] { spill(folder / "pipe", test::slurp(folder / "whole.npy")); });
    const Array back = read_npy(folder / "pipe");
    writer.join();
    EXPECT_EQ(elements(back.view()), elements(array.view()));
}

TEST(Npy, FortranOrderIsAViewOfTheSameBytes) {
    const std::string fortran = npy(1, dict("|u1", "(2, 3)", "True"), "adbecf");
    const Array array = parse(fortran);
    EXPECT_EQ(array.view().strides, (std::vector<std::ptrdiff_t>{1, 2}));
    EXPECT_EQ(elements(array.view()), "abcdef");
    EXPECT_EQ(reinterpret_cast<const char*>(array.view().data), fortran.data() + fortran.size() - 6);
}

TEST(Npy, ElementsOffTheirAlignmentAreCopiedToAlignedMemory) {
    for (std::size_t shift = 0; shift < 8; ++shift) {
        std::string file =
            npy(1, dict("<f8", "(2, 2)", "True") + std::string(shift, ' '), std::string(32, 'x'));
        const Array array = parse(file);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.view().data) % 8, 0u);
        EXPECT_EQ(elements(array.view()), std::string(32, 'x'));
    }
}

TEST(Npy, AnArrayOutlivesTheNameOfItsFile) {
    const Folder folder;
    const Array array = Array::copy_of<float>({1, 2, 3}, {3});
    write_npy(folder / "a.npy", array.view());
    const Array back = read_npy(folder / "a.npy");
    std::filesystem::remove(folder / "a.npy");
    EXPECT_EQ(back.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(Npy, EmptyAndZeroDimensionalArraysGoRound) {
    const Folder folder;
    for (const std::vector<std::size_t>& shape :
         {std::vector<std::size_t>{}, {0}, {3, 0, 2}, {0, 4294967296}}) {
        const Array array = Array::zeros(DType::float32, shape);
        write_npy(folder / "a.npy", array.view());
        const Array back = read_npy(folder / "a.npy");
        EXPECT_EQ(back.shape(), shape);
        EXPECT_FALSE(back.empty());
    }
}

TEST(Npy, AnyArrayGoesRoundWhateverItsTypeShapeAndStrides) {
    const Folder folder;
    EXPECT_TRUE(rc::check("write_npy then read_npy is the identity", [&] {
        const DType dtype =
            *rc::gen::elementOf(std::vector<DType>(std::begin(test::kAllTypes), std::end(test::kAllTypes)));
        const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
        const auto shape =
            *rc::gen::container<std::vector<std::size_t>>(rank, rc::gen::inRange<std::size_t>(0, 7));
        // Every axis may have gaps or be broadcast, and the order of the axes may be reversed.
        const std::size_t width = size_of(dtype);
        ArrayView view{
            .data = nullptr, .dtype = dtype, .shape = shape, .strides = std::vector<std::ptrdiff_t>(rank)};
        std::size_t span = width;
        std::vector<std::size_t> axes(rank);
        for (std::size_t i = 0; i < rank; ++i) axes[i] = i;
        if (*rc::gen::arbitrary<bool>()) std::reverse(axes.begin(), axes.end());
        for (const std::size_t axis : axes) {
            const auto gap = *rc::gen::inRange<std::size_t>(0, 3);
            view.strides[axis] = gap == 0 ? 0 : static_cast<std::ptrdiff_t>(span * gap);
            if (gap > 0) span = span * gap * std::max<std::size_t>(shape[axis], 1);
        }
        std::vector<std::byte> memory(span);
        const auto seed = *rc::gen::arbitrary<std::uint32_t>();
        std::uint32_t state = seed;
        for (auto& b : memory) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
        view.data = memory.data();

        write_npy(folder / "a.npy", view);
        const Array back = read_npy(folder / "a.npy");
        RC_ASSERT(back.dtype() == dtype);
        RC_ASSERT(back.shape() == shape);
        RC_ASSERT(back.view().is_c_contiguous() || back.view().size() == 0);
        RC_ASSERT(elements(back.view()) == elements(view));
    }));
}

TEST(Npy, LargeStridedArraysAreGatheredInPieces) {
    const Folder folder;
    std::vector<std::uint32_t> values(300000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    const Array array = Array::copy_of(values, {300, 1000});
    ArrayView transposed = array.view();
    std::swap(transposed.shape[0], transposed.shape[1]);
    std::swap(transposed.strides[0], transposed.strides[1]);
    write_npy(folder / "t.npy", transposed);
    const auto back = read_npy(folder / "t.npy").to_vector<std::uint32_t>();
    for (std::size_t i = 0; i < 1000; ++i)
        for (std::size_t j = 0; j < 300; ++j) ASSERT_EQ(back[i * 300 + j], values[j * 1000 + i]);
}

TEST(NpyHeader, IsAMultipleOfSixtyFourAndReadsBack) {
    for (const DType dtype : test::kAllTypes) {
        for (const std::vector<std::size_t>& shape :
             {std::vector<std::size_t>{}, {0}, {1000000007, 0, 12345678}, std::vector<std::size_t>(32, 0)}) {
            const std::string header = npy_header(dtype, shape);
            EXPECT_EQ(header.size() % 64, 0u);
            EXPECT_EQ(header.back(), '\n');
            const Array array = parse(header + std::string(shape.empty() ? size_of(dtype) : 0, '\0'));
            EXPECT_EQ(array.dtype(), dtype);
            EXPECT_EQ(array.shape(), shape);
        }
    }
}

}  // namespace
}  // namespace kandinsky
