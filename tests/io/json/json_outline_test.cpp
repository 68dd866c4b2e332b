#include "io/json/json_outline.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "io/support.hpp"
#include "support/targets.hpp"

namespace kandinsky {
namespace {

using test::expect_error;

constexpr std::string_view kKeys[] = {"images", "annotations"};

std::vector<JsonRuns> outline(std::string_view text, std::size_t window = 1) {
    return outline_json(text, kKeys, window, "a.json");
}

std::vector<std::string> pieces(std::string_view text, const JsonRuns& runs) {
    std::vector<std::string> out;
    for (const TextRange& run : runs.runs) out.emplace_back(text.substr(run.begin, run.end - run.begin));
    return out;
}

TEST(JsonOutline, FindsTheElementsOfTheWantedArrays) {
    const std::string text =
        R"( {"x": [1, [2, {"images": []}]], "annotations" : [ {"a": 1} , {"b": [{"c": "}]"}]},{}],)"
        "\n"
        R"("n": -1.5e3, "t": true, "s": "\"],{", "images": [] } )";
    const auto parts = outline(text);
    EXPECT_TRUE(parts[0].found);
    EXPECT_TRUE(parts[0].runs.empty());
    EXPECT_EQ(pieces(text, parts[1]),
              (std::vector<std::string>{R"({"a": 1})", R"({"b": [{"c": "}]"}]})", "{}"}));
    EXPECT_EQ(pieces(text, outline(text, 100)[1]),
              (std::vector<std::string>{R"({"a": 1} , {"b": [{"c": "}]"}]},{})"}));
}

TEST(JsonOutline, AKeyThatIsMissingIsNotFound) {
    EXPECT_FALSE(outline("{}")[0].found);
    EXPECT_FALSE(outline(R"({"a": 1})")[0].found);
}

TEST(JsonOutline, AByteOrderMarkIsPassedOver) {
    EXPECT_TRUE(outline("\xEF\xBB\xBF{\"images\":[]}")[0].found);
}

/// Elements that are all different, with text that tries to look like structure, far longer than any block.
void expect_right_places() {
    Random random(3, 4);
    for (int round = 0; round < 200; ++round) {
        std::string text(random.below(130), ' ');
        text += "{\"images\":[";
        std::vector<std::string> elements;
        for (int i = 0; i < 60; ++i) {
            std::string filler;
            for (std::uint64_t k = random.below(300); k-- > 0;) {
                constexpr const char* kParts[] = {"a", "{", "]", "\\\"", "\\\\", "}", "[", ",", "\\\\\\\""};
                filler += kParts[random.below(9)];
            }
            elements.push_back("{\"n\":\"" + filler + "\",\"m\":[[1],{}]}");
            text += (i == 0 ? "" : ",") + elements.back();
        }
        text += "]}";
        EXPECT_EQ(pieces(text, outline(text)[0]), elements);
    }
}

TEST(JsonOutline, PlacesAreRightAcrossBlocksOfAnyAlignmentOnEveryVectorUnit) {
    test::for_each_target(expect_right_places);
}

TEST(JsonOutline, EveryTruncationIsRefused) {
    const std::string text = R"({"x": {"a": [1, "b"]}, "n": 12, "annotations": [{"a": "\\"}, {"b": []}]})";
    for (std::size_t length = 0; length < text.size(); ++length)
        expect_error(ErrorKind::data, {"a.json"}, [&] { (void)outline(text.substr(0, length)); });
}

TEST(JsonOutline, DamageIsRefusedInWords) {
    expect_error(ErrorKind::data, {"a.json", "not a JSON object"}, [] { (void)outline("[1]"); });
    expect_error(ErrorKind::data, {"a.json", "not a JSON object"}, [] { (void)outline(""); });
    expect_error(ErrorKind::data, {"a.json", "twice"}, [] { (void)outline(R"({"images":[],"images":[]})"); });
    expect_error(ErrorKind::data, {"a.json", "not a JSON array"}, [] { (void)outline(R"({"images":{}})"); });
    expect_error(ErrorKind::data, {"a.json", "byte 11"}, [] { (void)outline(R"({"images":[1]})"); });
    expect_error(ErrorKind::data, {"a.json", "end of the file"}, [] { (void)outline("{} x"); });
    expect_error(ErrorKind::data, {"a.json", "a key"}, [] { (void)outline("{1:2}"); });
    expect_error(ErrorKind::data, {"a.json", "':'"}, [] { (void)outline(R"({"a" 1})"); });
    expect_error(ErrorKind::data, {"a.json", "a value"}, [] { (void)outline(R"({"a":,"b":1})"); });
    expect_error(ErrorKind::data, {"a.json", "',' or ']'"}, [] { (void)outline(R"({"images":[{}{}]})"); });
}

TEST(JsonOutline, DeepNestingIsRefusedAndDoesNotOverflow) {
    const std::string deep(1000000, '[');
    expect_error(ErrorKind::data, {"a.json", "deeper than 64"}, [&] { (void)outline("{\"a\":" + deep); });
    expect_error(ErrorKind::data, {"a.json", "deeper than 64"},
                 [&] { (void)outline("{\"images\":[{\"a\":" + deep); });
}

}  // namespace
}  // namespace kandinsky
