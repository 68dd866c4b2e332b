#include "report/data/blob.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <zlib.h>

#include <limits>

namespace kandinsky {
namespace {

std::vector<std::uint8_t> from_base64(const std::string& text) {
    static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> out;
    unsigned word = 0, bits = 0;
    for (const char letter : text) {
        if (letter == '=') break;
        word = (word << 6) | static_cast<unsigned>(kDigits.find(letter));
        bits += 6;
        if (bits >= 8) out.push_back(static_cast<std::uint8_t>(word >> (bits -= 8)));
    }
    return out;
}

/// What the page does with a blob.
std::vector<std::uint8_t> unpacked(const nlohmann::ordered_json& blob, std::size_t size) {
    const std::vector<std::uint8_t> packed = from_base64(blob["data"].get<std::string>());
    std::vector<std::uint8_t> out(size + 1);
    uLongf got = out.size();
    EXPECT_EQ(uncompress(out.data(), &got, packed.data(), packed.size()), Z_OK);
    out.resize(got);
    const auto lag = blob["lag"].get<std::size_t>();
    for (std::size_t i = lag; lag > 0 && i < out.size(); ++i)
        out[i] = static_cast<std::uint8_t>(out[i] + out[i - lag]);
    return out;
}

TEST(Blob, BytesComeBackWhateverLagWasChosen) {
    const auto comes_back = [] {
        const auto bytes = *rc::gen::nonEmpty(rc::gen::arbitrary<std::vector<std::uint8_t>>());
        const auto lags = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 20));
        const auto packed = blob(bytes, {bytes.size()}, lags);
        RC_ASSERT(unpacked(packed, bytes.size()) == bytes);
    };
    EXPECT_TRUE(rc::check("unpacked(blob(bytes)) == bytes", comes_back));
}

TEST(Blob, ARampIsStoredAsItsSteps) {
    std::vector<std::uint8_t> bytes(4000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
    EXPECT_EQ(blob(bytes, {bytes.size()})["lag"], 1);
    EXPECT_LT(blob(bytes, {bytes.size()})["data"].get<std::string>().size(), 100u);
}

TEST(Blob, SixteenBitValuesAreLowBytesThenHighBytes) {
    const std::vector<std::uint16_t> values{0x0102, 0xff00, 7};
    const auto packed = blob(values, {3});
    EXPECT_EQ(packed["type"], "u16");
    EXPECT_EQ(unpacked(packed, 6), (std::vector<std::uint8_t>{0x02, 0x00, 7, 0x01, 0xff, 0}));
}

TEST(Blob, Base64PadsAsEverywhere) {
    const auto text = [](const std::string& s) {
        return base64({reinterpret_cast<const std::uint8_t*>(s.data()), s.size()});
    };
    EXPECT_EQ(text(""), "");
    EXPECT_EQ(text("f"), "Zg==");
    EXPECT_EQ(text("fo"), "Zm8=");
    EXPECT_EQ(text("foo"), "Zm9v");
    EXPECT_EQ(text("\xff\xff\xfe"), "///+");
}

TEST(Blob, QuantisingRoundsClampsAndMarksWhatIsNoNumber) {
    EXPECT_EQ(quantised(0.5, 1), 127);
    EXPECT_EQ(quantised(0.25, 1, 200), 50);
    EXPECT_EQ(quantised(-1, 1), 0);
    EXPECT_EQ(quantised(3, 1), 254);
    EXPECT_EQ(quantised(1, 0), 0);
    EXPECT_EQ(quantised(std::numeric_limits<double>::quiet_NaN(), 1), 255);
    EXPECT_EQ(quantised(std::numeric_limits<double>::infinity(), 1), 255);
}

}  // namespace
}  // namespace kandinsky
