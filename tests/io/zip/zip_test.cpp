#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>

#include "io/support.hpp"
#include "io/zip/crc32.hpp"
#include "io/zip/zip_reader.hpp"
#include "io/zip/zip_records.hpp"
#include "io/zip/zip_writer.hpp"
#include "zip_parts.hpp"

namespace kandinsky {
namespace {

using test::archive;
using test::elements;
using test::expect_error;
using test::Folder;
using test::le;
using test::Part;
using test::slurp;
using test::spill;

std::string text_of(const Array& array) {
    return elements(array.view());
}

std::string small_npy() {
    return npy_header(DType::uint8, {3}) + "abc";
}

class Zip : public ::testing::Test {
  protected:
    std::filesystem::path save(const std::string& content) {
        spill(folder_ / "a.npz", content);
        return folder_ / "a.npz";
    }
    void expect_refused(const std::string& content, const std::string& reason) {
        const auto path = save(content);
        expect_error(ErrorKind::data, {"cannot read " + path.string(), reason}, [&] {
            const ZipReader zip(path);
            for (const auto& member : zip.members()) (void)zip.bytes(member.name);
        });
    }
    Folder folder_;
};

TEST_F(Zip, StoredAndDeflatedMembersAreRead) {
    const std::string text(100000, 't');
    const ZipReader zip(save(archive({{.name = "s", .data = "stored"},
                                      Part::of_deflated("d", text),
                                      {.name = "empty", .data = ""},
                                      Part::of_deflated("hollow", "")},
                                     {.comment = "hello"})));
    EXPECT_EQ(zip.members().size(), 4u);
    EXPECT_EQ(text_of(zip.bytes("s")), "stored");
    EXPECT_TRUE(text_of(zip.bytes("d")) == text);
    EXPECT_EQ(text_of(zip.bytes("empty")), "");
    EXPECT_EQ(text_of(zip.bytes("hollow")), "");
    EXPECT_TRUE(zip.has("empty"));
    EXPECT_FALSE(zip.has("emptx"));
    EXPECT_EQ(zip.comment(), "hello");
    EXPECT_FALSE(zip.has_checksum());
    EXPECT_FALSE(zip.checksum_ok());
    expect_error(ErrorKind::data, {"a.npz:none: there is no such member"}, [&] { (void)zip.bytes("none"); });
}

TEST_F(Zip, NamesAreMereKeys) {
    const ZipReader zip(save(archive({{.name = "../../etc/passwd", .data = "1"},
                                      {.name = "/abs", .data = "2"},
                                      {.name = "", .data = "3"}})));
    EXPECT_EQ(text_of(zip.bytes("../../etc/passwd")), "1");
    EXPECT_EQ(text_of(zip.bytes("/abs")), "2");
    EXPECT_EQ(text_of(zip.bytes("")), "3");
}

TEST_F(Zip, AnArchiveWithoutMembersIsFineButHoldsNoArray) {
    EXPECT_TRUE(ZipReader(save(archive({}))).members().empty());
    expect_error(ErrorKind::data, {"there is no array in it"}, [&] { (void)read_npz(save(archive({}))); });
}

TEST_F(Zip, WhatIsNoArchiveIsRefused) {
    expect_refused("", "it is empty");
    expect_refused("text", "no zip end record");
    expect_refused(small_npy(), "it is an npy array");
    expect_refused(archive({{.name = "a", .data = "x"}}) + "y", "no zip end record");
    expect_error(ErrorKind::file, {"No such file"}, [&] { const ZipReader zip(folder_ / "none.npz"); });
    expect_error(ErrorKind::file, {"Is a directory"}, [&] { const ZipReader zip(folder_.path()); });
}

TEST_F(Zip, MembersThatCannotBeReadAreRefused) {
    expect_refused(archive({{.name = "a", .data = "x", .flags = 1}}), "is encrypted");
    expect_refused(archive({{.name = "a", .data = "x", .flags = 64}}), "is encrypted");
    expect_refused(archive({{.name = "a", .data = "x", .flags = 32}}), "is a patch");
    expect_refused(archive({{.name = "a", .data = "x", .method = 12}}), "compression method 12");
    expect_refused(archive({{.name = "a", .data = "x", .local_method = 8}}), "disagree on the compression");
    expect_refused(archive({{.name = "a", .data = "x", .disk = 1}}), "split");
    expect_refused(archive({{.name = "a", .data = "x"}}, {.disk = 1}), "split");
}

TEST_F(Zip, DuplicateNamesAreRefused) {
    expect_refused(
        archive({{.name = "a", .data = "x"}, {.name = "b", .data = "y"}, {.name = "a", .data = "z"}}),
        "two members named a");
}

TEST_F(Zip, HeadersThatDisagreeAreRefused) {
    expect_refused(archive({{.name = "a", .data = "x", .local_name = "b"}}), "is named b in its own header");
    expect_refused(archive({{.name = "a\x1b", .data = "x", .local_name = "b"}}), "member a\\x1b is named b");
    expect_refused(archive({{.name = "a", .data = "xy", .local_size = 3}}), "disagree on its size");
    expect_refused(archive({{.name = "a", .data = "x", .size = 2, .local_size = 2}}),
                   "is stored, yet claims");
    expect_refused(archive({{.name = "a", .data = "x", .shift = 1}}), "not where its directory says");
    expect_refused(archive({{.name = "a", .data = "x", .shift = 0x10000000}}),
                   "not where its directory says");
    expect_refused(archive({{.name = "a", .data = "x", .size = 99, .stored = 99}}),
                   "reaches past the zip directory");
    expect_refused(archive({{.name = "a", .data = "x", .size = 9999, .stored = 9999}}), "more than the file");
    expect_refused(archive({{.name = "a", .data = "x", .size = 0xFFFFFFFF, .stored = 0xFFFFFFFF}}),
                   "needs a zip64 field");
    expect_refused(archive({{.name = "a",
                             .data = "x",
                             .size = 0xFFFFFFFF,
                             .stored = 0xFFFFFFFF,
                             .extra = le(1, 2) + le(8, 2) + le(1, 8)}}),
                   "zip64 field of its member a is damaged");
    expect_refused(archive({{.name = "a",
                             .data = "x",
                             .size = 0xFFFFFFFF,
                             .stored = 0xFFFFFFFF,
                             .extra = le(1, 2) + le(99, 2) + le(1, 8)}}),
                   "needs a zip64 field");
}

TEST_F(Zip, OverlappingMembersAreRefused) {
    const std::string inner =
        archive({{.name = "b", .data = "x"}}).substr(0, 32);  // one local header and its byte
    Part outer{.name = "a", .data = inner};
    const std::string outer_header = archive({outer}).substr(0, 31);
    Part hidden{.name = "b", .data = "x"};
    hidden.shift = -static_cast<std::int64_t>(inner.size());  // into the data of "a"
    expect_refused(archive({outer, hidden}), "members a and b overlap");
}

TEST_F(Zip, DirectoriesThatDoNotFitAreRefused) {
    const std::vector<Part> parts = {{.name = "a", .data = "x"}, {.name = "b", .data = "y"}};
    expect_refused(archive(parts, {.count_change = -1}), "goes on after its 1 members");
    expect_refused(archive(parts, {.count_change = 1}), "cannot hold 3 members");
    expect_refused(archive(parts, {.directory_change = 1}), "does not end where");
    expect_refused(archive(parts, {.directory_change = 1000000}), "does not end where");
    expect_refused(archive(parts, {.gap = "!"}), "does not end where");
    std::string damaged = archive(parts);
    damaged[damaged.find("PK\x01\x02")] = 'Q';
    expect_refused(damaged, "directory is damaged");
}

TEST_F(Zip, TooManyMembersAreRefusedBeforeTheyAreRead) {
    const std::string end64 = zip::end64_records(100001, 0, 0, zip::Format64::always);
    expect_refused(end64 + zip::end_record(100001, 0, 0, "", zip::Format64::always), "claims 100001 members");
}

TEST_F(Zip, DamagedContentIsRefused) {
    Part stored{.name = "a", .data = "hello"};
    stored.crc ^= 1;
    expect_refused(archive({stored}), "a.npz:a: its CRC does not match");
    Part wrong = Part::of_deflated("a", "hello hello hello");
    wrong.crc ^= 1;
    expect_refused(archive({wrong}), "its CRC does not match");
    Part cut = Part::of_deflated("a", std::string(1000, 'x'));
    cut.data.resize(cut.data.size() - 1);
    cut.stored -= 1;
    expect_refused(archive({cut}), "compressed data ends after");
    Part garbage = Part::of_deflated("a", "x");
    garbage.data[0] = '\x07';  // block type 3 does not exist
    expect_refused(archive({garbage}), "compressed data is damaged");
    Part surplus = Part::of_deflated("a", "x");
    surplus.data += "zz";
    surplus.stored += 2;
    expect_refused(archive({surplus}), "2 bytes are left over");
}

TEST_F(Zip, MembersThatInflateToAnotherSizeThanClaimedAreRefused) {
    Part more = Part::of_deflated("a", std::string(1000, 'x'));
    more.size = more.local_size = 999;
    expect_refused(archive({more}), "inflates to more than the 999 bytes");
    more.size = more.local_size = 0;
    expect_refused(archive({more}), "inflates to more than the 0 bytes");
    Part less = Part::of_deflated("a", std::string(1000, 'x'));
    less.size = less.local_size = 1001;
    expect_refused(archive({less}), "inflates to 1000 bytes and claims 1001");
}

TEST_F(Zip, ArchiveBombsAreRefusedOnOpening) {
    Part bomb = Part::of_deflated("a", "x");
    bomb.size = bomb.local_size = (64u << 20) + 1;
    const auto path = save(archive({bomb}));
    expect_error(ErrorKind::data, {"claims to inflate from 3 to 67108865 bytes"},
                 [&] { const ZipReader zip(path); });
    bomb.size = bomb.local_size = 64u << 20;
    EXPECT_EQ(ZipReader(save(archive({bomb}))).members().size(), 1u);
    expect_refused(archive({bomb}), "inflates to 1 bytes");
}

TEST_F(Zip, KeysOfNpzFilesChooseTheArray) {
    const auto one =
        save(archive({{.name = "probs.npy", .data = small_npy()}, {.name = "meta.json", .data = "{}"}}));
    EXPECT_EQ(text_of(read_npz(one)), "abc");
    EXPECT_EQ(text_of(read_npz(one, "probs")), "abc");
    EXPECT_EQ(text_of(read_npz(one, "probs.npy")), "abc");
    EXPECT_EQ(text_of(ZipReader(one).array("probs")), "abc");
    expect_error(ErrorKind::data, {"there is no array labels in it; it holds probs"},
                 [&] { (void)read_npz(one, "labels"); });
    const auto two =
        save(archive({{.name = "b.npy", .data = small_npy()}, Part::of_deflated("a.npy", small_npy())}));
    expect_error(ErrorKind::data, {"it holds 2 arrays (b, a); choose one as", "a.npz:KEY"},
                 [&] { (void)read_npz(two); });
    EXPECT_EQ(text_of(read_npz(two, "a")), "abc");
    std::vector<Part> many;
    for (int i = 0; i < 30; ++i) many.push_back({.name = fmt::format("k{}.npy", i), .data = small_npy()});
    expect_error(ErrorKind::data, {"k19 and 10 more"}, [&] { (void)read_npz(save(archive(many))); });
}

TEST_F(Zip, ABadArrayInAnArchiveIsNamedWithItsKey) {
    expect_error(ErrorKind::data, {"a.npz:k: truncated"}, [&] {
        (void)read_npz(save(archive({{.name = "k.npy", .data = npy_header(DType::uint8, {3})}})));
    });
}

/// A small archive of our own, with a comment and a checksum.
std::string written(const Folder& folder, zip::Format64 format, bool with_checksum = true) {
    AtomicFile file(folder / "w.npz");
    ZipWriter zip(file, format);
    zip.add_array("x", Array::copy_of<float>({1, 2, 3, 4, 5, 6}, {2, 3}).view());
    zip.add("meta.json", test::bytes_of("{\"a\": 1}"));
    zip.add("empty", {});
    zip.finish("kandinsky ", with_checksum);
    file.commit();
    return slurp(folder / "w.npz");
}

constexpr zip::Format64 kFormats[] = {zip::Format64::when_needed, zip::Format64::always};

TEST_F(Zip, WhatTheWriterWritesIsReadBack) {
    for (const auto format : kFormats) {
        const ZipReader zip(save(written(folder_, format)));
        EXPECT_EQ(zip.members().size(), 3u);
        EXPECT_EQ(zip.array("x").to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
        EXPECT_EQ(text_of(zip.bytes("meta.json")), "{\"a\": 1}");
        EXPECT_EQ(text_of(zip.bytes("empty")), "");
        for (const auto& member : zip.members()) EXPECT_EQ(member.data % 64, 0u) << member.name;
        EXPECT_TRUE(zip.has_checksum());
        EXPECT_TRUE(zip.checksum_ok());
        EXPECT_EQ(zip.comment().substr(0, 16), "kandinsky crc32=");
        EXPECT_FALSE(ZipReader(save(written(folder_, format, false))).has_checksum());
    }
}

TEST_F(Zip, EqualContentGivesEqualBytes) {
    for (const auto format : kFormats) EXPECT_EQ(written(folder_, format), written(folder_, format));
    EXPECT_NE(written(folder_, kFormats[0]), written(folder_, kFormats[1]));
}

TEST_F(Zip, TheWriterRefusesTwoMembersOfOneName) {
    AtomicFile file(folder_ / "w.npz");
    ZipWriter zip(file);
    zip.add("a", {});
    expect_error(ErrorKind::internal, {"two members named a"}, [&] { zip.add("a", {}); });
}

TEST_F(Zip, EveryTruncationOfAnArchiveIsRefused) {
    const std::string own = written(folder_, zip::Format64::when_needed);
    const std::string large = written(folder_, zip::Format64::always);
    const std::string packed =
        archive({Part::of_deflated("a.npy", small_npy()), {.name = "b.npy", .data = small_npy()}});
    for (const std::string& whole : {own, large, packed}) {
        ASSERT_NO_THROW(ZipReader{save(whole)});
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto path = save(whole.substr(0, length));
            EXPECT_THROW(ZipReader{path}, Error) << length;
        }
    }
}

TEST_F(Zip, EveryByteFlipOfAnArchiveWithChecksumIsDetected) {
    for (const auto format : kFormats) {
        const std::string whole = written(folder_, format);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            for (const int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF}) {
                std::string flipped = whole;
                flipped[i] = static_cast<char>(flipped[i] ^ mask);
                bool detected = false;
                try {
                    detected = !ZipReader(save(flipped)).checksum_ok();
                } catch (const Error& error) {
                    detected = error.kind() == ErrorKind::data;
                }
                EXPECT_TRUE(detected) << "byte " << i << " mask " << mask;
            }
        }
    }
}

TEST_F(Zip, EveryByteFlipOfAPlainArchiveIsRefusedOrGivesTheSameArray) {
    const std::string whole = archive({Part::of_deflated("a.npy", small_npy())});
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0xFF);
        try {
            EXPECT_EQ(text_of(read_npz(save(flipped))), "abc") << i;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
        }
    }
}

TEST_F(Zip, AnyArraysGoRound) {
    EXPECT_TRUE(rc::check("ZipWriter then ZipReader is the identity", [&] {
        const auto names =
            *rc::gen::unique<std::vector<std::string>>(rc::gen::nonEmpty(rc::gen::string<std::string>()));
        const auto format =
            *rc::gen::elementOf(std::vector<zip::Format64>(std::begin(kFormats), std::end(kFormats)));
        std::vector<Array> arrays;
        {
            AtomicFile file(folder_ / "w.npz");
            ZipWriter zip(file, format);
            for (std::size_t i = 0; i < names.size(); ++i) {
                const auto values = *rc::gen::arbitrary<std::vector<std::int16_t>>();
                arrays.push_back(Array::copy_of(values, {values.size()}));
                zip.add_array(names[i], arrays.back().view());
            }
            zip.finish("", true);
            file.commit();
        }
        const ZipReader zip(folder_ / "w.npz");
        RC_ASSERT(zip.checksum_ok());
        RC_ASSERT(zip.array_names() == names);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Array back = zip.array(names[i]);
            RC_ASSERT(back.shape() == arrays[i].shape());
            RC_ASSERT(text_of(back) == text_of(arrays[i]));
        }
    }));
}

TEST(ZipRecords, LargeValuesMoveIntoTheZip64Field) {
    const std::uint64_t large = (std::uint64_t{5} << 32) + 7;
    const auto when_needed = zip::Format64::when_needed;
    const zip::Entry big{.name = "m", .size = large, .offset = 100, .crc = 1};
    const std::string local = zip::local_header(big, when_needed);
    EXPECT_EQ(local.substr(4, 2), le(45, 2));
    EXPECT_EQ(local.substr(18, 8), le(0xFFFFFFFF, 4) + le(0xFFFFFFFF, 4));
    EXPECT_EQ(local.substr(31, 20), le(1, 2) + le(16, 2) + le(large, 8) + le(large, 8));
    EXPECT_EQ((local.size() + 100) % 64, 0u);
    const std::string central = zip::central_header(big, when_needed);
    EXPECT_EQ(central.substr(42, 4), le(100, 4));
    EXPECT_EQ(central.substr(47), le(1, 2) + le(16, 2) + le(large, 8) + le(large, 8));

    const std::string far =
        zip::central_header({.name = "m", .size = 3, .offset = large, .crc = 1}, when_needed);
    EXPECT_EQ(far.substr(20, 8), le(3, 4) + le(3, 4));
    EXPECT_EQ(far.substr(42, 4), le(0xFFFFFFFF, 4));
    EXPECT_EQ(far.substr(47), le(1, 2) + le(8, 2) + le(large, 8));

    const std::string plain =
        zip::central_header({.name = "m", .size = 0xFFFFFFFE, .offset = 0xFFFFFFFE, .crc = 1}, when_needed);
    EXPECT_EQ(plain.size(), 47u);
    EXPECT_EQ(
        zip::central_header({.name = "m", .size = 0xFFFFFFFF, .offset = 0, .crc = 1}, when_needed).size(),
        47u + 20u);

    EXPECT_EQ(zip::end64_records(65534, 0xFFFFFFFE, 0xFFFFFFFE, when_needed), "");
    EXPECT_EQ(zip::end64_records(65535, 1, 1, when_needed).size(), zip::kEnd64Bytes + zip::kLocatorBytes);
    EXPECT_EQ(zip::end64_records(1, large, 1, when_needed).size(), zip::kEnd64Bytes + zip::kLocatorBytes);
    EXPECT_EQ(zip::end_record(1, large, 9, "", when_needed).substr(8, 12),
              le(1, 2) + le(1, 2) + le(9, 4) + le(0xFFFFFFFF, 4));
}

TEST_F(Zip, AMemberPastFourGigabytesIsRead) {
    // Sparse: the first member is a hole of zeros that is never read, so its CRC may be anything.
    const auto format = zip::Format64::when_needed;
    const zip::Entry hole{.name = "hole", .size = std::uint64_t{5} << 30, .offset = 0, .crc = 7};
    const std::string hole_header = zip::local_header(hole, format);
    const std::string content = small_npy();
    const zip::Entry last{.name = "a.npy",
                          .size = content.size(),
                          .offset = hole_header.size() + hole.size,
                          .crc = crc32_of(content.data(), content.size())};
    const std::string last_header = zip::local_header(last, format);
    const std::uint64_t directory = last.offset + last_header.size() + content.size();
    const std::string records = zip::central_header(hole, format) + zip::central_header(last, format);
    {
        std::ofstream file(folder_ / "large.npz", std::ios::binary);
        file << hole_header;
        file.seekp(static_cast<std::streamoff>(last.offset));
        file << last_header << content << records << zip::end64_records(2, directory, records.size(), format)
             << zip::end_record(2, directory, records.size(), "", format);
        ASSERT_TRUE(file.good());
    }
    const ZipReader zip(folder_ / "large.npz");
    EXPECT_EQ(zip.members()[0].size, hole.size);
    EXPECT_EQ(text_of(zip.array("a")), "abc");
}

}  // namespace
}  // namespace kandinsky
