#include "io/coco/coco.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <kandinsky/threads.hpp>
#include <nlohmann/json.hpp>

#include "core/base/random.hpp"
#include "io/mask/golden_masks.hpp"
#include "io/mask/mask.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using nlohmann::ordered_json;
using test::expect_error;
using test::Folder;
using test::spill;

std::size_t annotations_in(const CocoFile& file) {
    std::size_t sum = 0;
    for (const CocoImage& image : file.images()) sum += image.annotations;
    return sum;
}

/// Two images, three categories, and no annotation yet.
ordered_json small() {
    return {{"info", {{"year", 2017}}},
            {"images",
             {{{"id", 9007199254740993}, {"file_name", "b.jpg"}, {"height", 4}, {"width", 6}},
              {{"id", -3}, {"file_name", "sub/a.jpg"}, {"height", 5}, {"width", 3}}}},
            {"annotations", ordered_json::array()},
            {"categories",
             {{{"id", 18}, {"name", "dog"}},
              {{"id", 1}, {"name", "person"}},
              {{"id", 90}, {"name", "tooth brush"}}}}};
}

ordered_json annotation(std::int64_t id, std::int64_t image, int category, const ordered_json& segmentation) {
    return {{"segmentation", segmentation},
            {"iscrowd", 0},
            {"image_id", image},
            {"category_id", category},
            {"id", id}};
}

const ordered_json kLeft = {{0, 0, 4, 0, 4, 4, 0, 4}};   // columns 0 to 3 of the first image
const ordered_json kRight = {{2, 0, 6, 0, 6, 4, 2, 4}};  // columns 2 to 5
constexpr std::int64_t kFirst = 9007199254740993;        // no double holds this number

class Coco : public testing::Test {
  protected:
    CocoFile open(const ordered_json& json, const CocoOptions& options = {.categories = {"person"}}) {
        spill(folder_ / "a.json", json.dump());
        return CocoFile(folder_ / "a.json", options);
    }
    std::string rows(const CocoFile& file, std::size_t image = 0) {
        const Array labels = file.labels(image);
        std::string out;
        const auto values = labels.to_vector<std::uint8_t>();
        for (std::size_t i = 0; i < values.size(); ++i)
            out += values[i] == 255 ? '?' : static_cast<char>('0' + values[i]);
        return out;
    }
    void refuse(const ordered_json& json, std::vector<std::string> parts) {
        parts.push_back("a.json");
        expect_error(ErrorKind::data, parts, [&] {
            const CocoFile file = open(json);
            for (std::size_t i = 0; i < file.images().size(); ++i) (void)file.labels(i);
        });
    }
    Folder folder_;
};

TEST_F(Coco, ImagesComeInTheFilesOrderWithTheirIds) {
    const CocoFile file = open(small());
    ASSERT_EQ(file.images().size(), 2u);
    EXPECT_EQ(file.images()[0].id, kFirst);
    EXPECT_EQ(file.images()[0].file_name, "b.jpg");
    EXPECT_EQ(file.images()[1].id, -3);
    EXPECT_EQ(file.images()[1].file_name, "sub/a.jpg");
    EXPECT_EQ(file.images()[1].height, 5u);
    EXPECT_EQ(file.images()[1].width, 3u);
    EXPECT_EQ(file.labels(1).shape(), (std::vector<std::size_t>{5, 3}));
    EXPECT_EQ(rows(file), std::string(24, '0'));
}

TEST_F(Coco, ClassesAreNumberedInTheOrderTheyAreAskedFor) {
    ordered_json json = small();
    json["annotations"] = {annotation(1, kFirst, 1, {{0, 0, 1, 0, 1, 4, 0, 4}}),
                           annotation(2, kFirst, 18, {{5, 0, 6, 0, 6, 4, 5, 4}}),
                           annotation(3, -3, 1, {{0, 0, 3, 0, 3, 5, 0, 5}})};
    EXPECT_EQ(rows(open(json, {.categories = {"person", "dog"}})), "100002100002100002100002");
    EXPECT_EQ(rows(open(json, {.categories = {"18", "1"}})), "200001200001200001200001");
    EXPECT_EQ(rows(open(json, {.categories = {"tooth brush"}})), std::string(24, '0'));
    const CocoFile file = open(json, {.categories = {"18", "person"}});
    EXPECT_EQ(file.class_names(), (std::vector<std::string>{"dog", "person"}));
    EXPECT_EQ(annotations_in(file), 3u);
    EXPECT_EQ(file.images()[0].annotations, 2u);
    EXPECT_EQ(rows(file, 1), std::string(15, '2'));
}

TEST_F(Coco, ObjectsOfOneClassMerge) {
    ordered_json json = small();
    json["annotations"] = {annotation(1, kFirst, 1, kLeft), annotation(2, kFirst, 1, kRight)};
    EXPECT_EQ(rows(open(json)), std::string(24, '1'));
    json["annotations"] = ordered_json::array({annotation(1, kFirst, 1, {kLeft[0], kRight[0]})});
    EXPECT_EQ(rows(open(json)), std::string(24, '1'));
}

TEST_F(Coco, WhereClassesOverlapTheTruthIsUndecidedOrBoth) {
    ordered_json json = small();
    json["annotations"] = {annotation(1, kFirst, 1, kLeft), annotation(2, kFirst, 18, kRight)};
    EXPECT_EQ(rows(open(json, {.categories = {"person", "dog"}})).substr(0, 6), "11??22");
    const CocoFile file = open(json, {.categories = {"person", "dog"}, .overlap = CocoOverlap::masks});
    const Array masks = file.labels(0);
    EXPECT_EQ(masks.shape(), (std::vector<std::size_t>{3, 4, 6}));
    const std::string all = rows(file);
    EXPECT_EQ(all.substr(0, 6), "000000");
    EXPECT_EQ(all.substr(24, 6), "111100");
    EXPECT_EQ(all.substr(48, 6), "001111");
    EXPECT_EQ(rows(file, 1).substr(0, 15), std::string(15, '1'));
}

TEST_F(Coco, ACrowdIsAnObjectUnlessItIsToBeIgnored) {
    ordered_json json = small();
    json["annotations"] = {annotation(1, kFirst, 1, kRight),
                           annotation(2, kFirst, 1, {{"counts", {0, 12, 12}}, {"size", {4, 6}}})};
    for (const ordered_json& crowd : {ordered_json(1), ordered_json(true)}) {
        json["annotations"][1]["iscrowd"] = crowd;
        EXPECT_EQ(rows(open(json)).substr(0, 6), "111111");
        EXPECT_EQ(rows(open(json, {.categories = {"1"}, .crowd = CocoCrowd::ignore})).substr(0, 6), "??1111");
    }
    expect_error(ErrorKind::usage, {"crowds cannot be ignored"}, [&] {
        (void)open(json, {.categories = {"1"}, .crowd = CocoCrowd::ignore, .overlap = CocoOverlap::masks})
            .labels(0);
    });
    for (const ordered_json& wrong : {ordered_json(2), ordered_json(-1), ordered_json("1")}) {
        json["annotations"][1]["iscrowd"] = wrong;
        expect_error(ErrorKind::data, {"annotation 2", "neither 0 nor 1"}, [&] { (void)open(json); });
    }
    json["annotations"][1].erase("iscrowd");
    EXPECT_EQ(rows(open(json, {.categories = {"1"}, .crowd = CocoCrowd::ignore})).substr(0, 6), "111111");
}

TEST_F(Coco, PolygonsAndBothFormsOfRunLengthsGiveTheReferenceMasks) {
    ordered_json json = small();
    json["images"].clear();
    std::int64_t id = 0;
    for (const test::GoldenMask& golden : test::golden_masks()) {
        const auto runs = unpack_run_lengths(golden.text, golden.grid.pixels(), "a");
        const ordered_json size = {golden.grid.height, golden.grid.width};
        for (const ordered_json& outline :
             {ordered_json(golden.parts), ordered_json{{"size", size}, {"counts", golden.text}},
              ordered_json{{"counts", runs}, {"size", size}}}) {
            json["images"].push_back({{"width", golden.grid.width},
                                      {"height", golden.grid.height},
                                      {"id", ++id},
                                      {"file_name", std::to_string(id)}});
            json["annotations"].push_back(annotation(id, id, 1, outline));
        }
    }
    const CocoFile file = open(json);
    for (std::size_t i = 0; i < file.images().size(); ++i)
        EXPECT_EQ(file.labels(i).to_vector<std::uint8_t>(), test::golden_masks()[i / 3].mask()) << i;
}

TEST_F(Coco, KeysMayComeInAnyOrderAndOthersAreIgnored) {
    spill(folder_ / "a.json", R"({"annotations":[{"id":4,"x":{"id":[{"image_id":9}]},"category_id":1,
        "\u0069mage_id":-3,"segmentation":[[0,0,3.0e0,0,3,5,0,5.0]],"bbox":[1,2,3,4]}],
        "categories":[{"supercategory":"a","name":"person","id":1}],"extra":null,
        "images":[{"width":3,"id":-3,"file_name":"\u0041\/b.jpg","height":5,"coco_url":"http:\/\/x"}]})");
    const CocoFile file(folder_ / "a.json", {.categories = {"person"}});
    EXPECT_EQ(file.images()[0].file_name, "A/b.jpg");
    EXPECT_EQ(rows(file), std::string(15, '1'));
}

TEST_F(Coco, AnEmptySegmentationCoversNothing) {
    ordered_json json = small();
    json["annotations"] = ordered_json::array({annotation(1, kFirst, 1, ordered_json::array())});
    EXPECT_EQ(rows(open(json)), std::string(24, '0'));
}

TEST_F(Coco, MissingAndMistypedKeysNameTheAnnotation) {
    const ordered_json good = annotation(77, kFirst, 1, kLeft);
    for (const char* key : {"image_id", "category_id", "segmentation"}) {
        ordered_json json = small(), bad = good;
        bad.erase(key);
        json["annotations"] = {annotation(5, kFirst, 1, kLeft), bad};
        refuse(json, {"annotation 77", fmt::format("has no \"{}\"", key)});
        for (const ordered_json& value : {ordered_json("1"), ordered_json(1.5), ordered_json(nullptr)}) {
            bad[key] = value;
            json["annotations"] = {annotation(5, kFirst, 1, kLeft), bad};
            refuse(json, {"annotation 77", key});
        }
    }
    ordered_json json = small(), bad = good;
    bad.erase("id");
    json["annotations"] = ordered_json::array({bad});
    refuse(json, {"annotation at byte", "has no \"id\""});
    bad["id"] = 18446744073709551615u;
    json["annotations"] = ordered_json::array({bad});
    refuse(json, {"annotation at byte", "\"id\" that is not a whole number"});
    bad["id"] = 77;
    bad["image_id"] = 12;
    json["annotations"] = ordered_json::array({bad});
    refuse(json, {"annotation 77", "image 12"});
}

TEST_F(Coco, OtherCategoriesAnnotationsNeedOnlyTheirCategory) {
    ordered_json json = small();
    json["annotations"] = {{{"id", 1}, {"category_id", 18}}};
    EXPECT_EQ(annotations_in(open(json)), 0u);
}

TEST_F(Coco, OutlinesThatMakeNoSenseNameTheAnnotation) {
    const std::vector<std::pair<ordered_json, std::string>> bad = {
        {{{1, 2, 3, 4}}, "4 numbers"},
        {{{1, 2, 3, 4, 5, 6, 7}}, "7 numbers"},
        {{1, 2, 3, 4, 5, 6}, "not a list of numbers"},
        {{{1, 2, 3, 4, 5, "6"}}, "values that are not numbers"},
        {{{1, 2, 3, 4, 5, 1e9}}, "reaches to"},
        {{{"counts", {24}}}, "run lengths for []"},
        {{{"counts", {24}}, {"size", {6, 4}}}, "run lengths for [6, 4]"},
        {{{"counts", {23}}, {"size", {4, 6}}}, "add up to 23"},
        {{{"counts", {25}}, {"size", {4, 6}}}, "run 0"},
        {{{"counts", {-1, 25}}, {"size", {4, 6}}}, "run 0"},
        {{{"counts", {1.5, 2}}, {"size", {4, 6}}}, "not whole numbers"},
        {{{"counts", "~~"}, {"size", {4, 6}}}, "not a digit"},
        {{{"counts", "oooooooooooooooo"}, {"size", {4, 6}}}, "too long"},
        {{{"counts", nullptr}, {"size", {4, 6}}}, "neither numbers nor text"},
        {{{"size", {4, 6}}}, "no \"counts\""}};
    for (const auto& [outline, words] : bad) {
        ordered_json json = small();
        json["annotations"] = {annotation(5, kFirst, 1, kLeft), annotation(77, kFirst, 1, outline)};
        refuse(json, {"annotation 77", words});
    }
}

TEST_F(Coco, ImagesThatMakeNoSenseAreNamed) {
    const auto with = [](const char* key, const ordered_json& value) {
        ordered_json json = small();
        json["images"][1][key] = value;
        return json;
    };
    for (const char* name : {"../a.jpg", "a/../../b.jpg", "/etc/passwd", "..", "a\\..\\b.jpg", "", "a/"})
        refuse(with("file_name", name), {"image -3", "inside the image folder"});
    refuse(with("file_name", std::string("a\0b", 3)), {"image -3", "inside the image folder"});
    for (const char* key : {"height", "width"})
        for (const ordered_json& value : {ordered_json(0), ordered_json(-1), ordered_json(70000)})
            refuse(with(key, value), {"image -3", "1 to 65535"});
    ordered_json large = with("width", 65535);
    large["images"][1]["height"] = 65535;
    refuse(large, {"image -3", "65535 x 65535 pixels, more than"});
    refuse(with("id", kFirst), {"two images", "9007199254740993"});
    for (const char* key : {"height", "width", "file_name"}) {
        ordered_json json = small();
        json["images"][1].erase(key);
        refuse(json, {"image -3", fmt::format("has no \"{}\"", key)});
    }
}

TEST_F(Coco, CategoriesAreFoundOrTheFilesOwnAreListed) {
    const auto refuse_words = [&](const std::vector<std::string>& words,
                                  const std::vector<std::string>& parts) {
        expect_error(ErrorKind::usage, parts, [&] { (void)open(small(), {.categories = words}); });
    };
    refuse_words({"cat"}, {"no category 'cat'", "dog, person, tooth brush"});
    refuse_words({"2"}, {"no category '2'"});
    refuse_words({"person", "1"}, {"'person'", "twice"});
    refuse_words({}, {"`categories`"});
    ordered_json json = small();
    json["categories"].push_back({{"id", 7}, {"name", "dog"}});
    expect_error(ErrorKind::data, {"18", "7", "'dog'"}, [&] { (void)open(json, {.categories = {"dog"}}); });
    EXPECT_EQ(open(json, {.categories = {"7"}}).class_names(), std::vector<std::string>{"dog"});
}

TEST_F(Coco, OtherJsonIsRefused) {
    for (const char* key : {"images", "annotations", "categories"}) {
        ordered_json json = small();
        json.erase(key);
        refuse(json, {fmt::format("no \"{}\"", key)});
    }
    spill(folder_ / "b.json", "");
    expect_error(ErrorKind::data, {"b.json"},
                 [&] { (void)CocoFile(folder_ / "b.json", {.categories = {"a"}}); });
    expect_error(ErrorKind::file, {"c.json"},
                 [&] { (void)CocoFile(folder_ / "c.json", {.categories = {"a"}}); });
}

TEST_F(Coco, EveryTruncationAndManyFlippedBytesAreRefusedOrRead) {
    ordered_json json = small();
    json["annotations"] = {annotation(1, kFirst, 1, kLeft),
                           annotation(2, -3, 1, {{"counts", {0, 15}}, {"size", {5, 3}}})};
    const std::string whole = json.dump();
    const auto read = [&](const std::string& text) {
        spill(folder_ / "a.json", text);
        const CocoFile file(folder_ / "a.json", {.categories = {"person"}});
        for (std::size_t i = 0; i < file.images().size(); ++i) (void)file.labels(i);
    };
    for (std::size_t length = 0; length < whole.size(); ++length)
        expect_error(ErrorKind::data, {"a.json"}, [&] { read(whole.substr(0, length)); });
    Random random(5, 6);
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = whole;
        for (std::uint64_t k = 1 + random.below(3); k-- > 0;)
            damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
        try {
            read(damaged);
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::data || error.kind() == ErrorKind::usage) << error.what();
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        }
    }
}

/// The file is larger than many chunks, so several threads read it. Of two errors the first is reported.
TEST_F(Coco, LargeFilesGiveTheSameForAnyNumberOfThreads) {
    std::string text = R"({"categories":[{"id":1,"name":"person"}],"images":[)";
    constexpr int kImages = 50, kAnnotations = 120000;
    for (int i = 0; i < kImages; ++i)
        text += fmt::format(R"({}{{"id":{},"file_name":"{}.png","height":40,"width":50}})", i == 0 ? "" : ",",
                            i, i);
    text += R"(],"annotations":[)";
    Random random(8, 9);
    for (int a = 0; a < kAnnotations; ++a)
        text += fmt::format(
            R"({}{{"segmentation":[[{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}]],"padding":"{:0200}",)"
            R"("image_id":{},"category_id":{},"id":{}}})",
            a == 0 ? "" : ",", random.uniform(0, 50), random.uniform(0, 40), random.uniform(0, 50),
            random.uniform(0, 40), random.uniform(0, 50), random.uniform(0, 40), a, a % kImages,
            a % 1000 == 0 ? 1 : 2, a);
    text += "]}";
    spill(folder_ / "a.json", text);
    std::vector<std::string> results;
    for (const std::size_t threads : {1, 4}) {
        const ThreadLimit limit(threads);
        const CocoFile file(folder_ / "a.json", {.categories = {"person"}});
        EXPECT_EQ(annotations_in(file), 120u);
        std::string all;
        for (std::size_t i = 0; i < kImages; ++i) all += rows(file, i);
        results.push_back(all);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_NE(results[0].find('1'), std::string::npos);

    for (const int a : {20000, 110000}) {
        const std::string there = fmt::format("\"id\":{}}}", a);
        const std::size_t at = text.find("\"category_id\":1," + there);
        ASSERT_NE(at, std::string::npos);
        text.replace(at, 13, "\"category_xx\"");
    }
    spill(folder_ / "a.json", text);
    for (const std::size_t threads : {1, 4}) {
        const ThreadLimit limit(threads);
        expect_error(ErrorKind::data, {"annotation 20000", "category_id"},
                     [&] { (void)CocoFile(folder_ / "a.json", {.categories = {"person"}}); });
    }
}

}  // namespace
}  // namespace kandinsky
