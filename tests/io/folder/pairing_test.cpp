#include "io/folder/pairing.hpp"

#include <gtest/gtest.h>

#include <kandinsky/error.hpp>

namespace kandinsky {
namespace {

class Names : public ImageSource {
  public:
    using ImageSource::items_;

    explicit Names(const std::vector<std::string>& names, std::size_t planes = 0) {
        for (const std::string& name : names) {
            ItemInfo info;
            info.name = name;
            info.path = name + ".png";
            info.planes = planes;
            info.height = info.width = 4;
            items_.push_back(info);
        }
    }
    [[nodiscard]] std::string_view format() const override { return "names"; }
    [[nodiscard]] Array read(std::size_t) const override { return {}; }
};

std::vector<std::string> names_of(const Pairing& pairing) {
    std::vector<std::string> names;
    for (const Pair& pair : pairing.pairs) names.push_back(pair.name);
    return names;
}

TEST(Pairing, GoesByNameInAscendingOrderWhateverTheOrderOfTheFiles) {
    const Names probs({"c", "a", "b"}, 3), labels({"b", "c", "a"});
    const Pairing pairing = pair_items(&probs, &labels);
    EXPECT_EQ(names_of(pairing), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(pairing.pairs[0].probs, 1u);
    EXPECT_EQ(pairing.pairs[0].labels, 2u);
    EXPECT_TRUE(pairing.bad.empty());
}

TEST(Pairing, ReportsMissingPartnersDuplicatesAndOtherShapesOrClasses) {
    Names probs({"a", "b", "c", "d", "e", "e"}, 3), labels({"a", "c", "d", "e", "f"});
    probs.items_[2].width = 5;
    probs.items_[3].planes = 2;
    const Pairing pairing = pair_items(&probs, &labels);
    EXPECT_EQ(names_of(pairing), (std::vector<std::string>{"a"}));
    std::string all;
    for (const BadFile& bad : pairing.bad) all += bad.path + " " + bad.problem + "\n";
    EXPECT_EQ(all,
              "e.png occurs 2 times, also as e.png\n"
              "d.png has 2 classes, but others have 3\n"
              "b.png has no label file of that name\n"
              "c.png is 4 x 5 (height x width), but its label c.png is 4 x 4 (height x width)\n"
              "f.png has no probabilities of that name\n");
}

TEST(Pairing, LeavesOutSharedEndingsOnlyWhenNoNameFits) {
    const Names probs({"a_probs", "b_probs"}, 3), labels({"a_seg", "b_seg"}), exact({"a_probs", "b"});
    EXPECT_EQ(names_of(pair_items(&probs, &labels)), (std::vector<std::string>{"a", "b"}));
    EXPECT_NE(pair_items(&probs, &labels).remark.find("'_probs' and '_seg'"), std::string::npos);
    EXPECT_EQ(names_of(pair_items(&probs, &exact)), (std::vector<std::string>{"a_probs"}));
    EXPECT_EQ(pair_items(&probs, &exact).bad.size(), 2u);
}

TEST(Pairing, TwoSingleFilesBelongTogether) {
    const Names probs({"prediction"}, 3), labels({"truth"});
    EXPECT_EQ(pair_items(&probs, &labels).pairs.size(), 1u);
}

TEST(Pairing, AdvisesClassFilesWhereNamesHaveNumbersBehind) {
    const Names probs({"a_0", "a_1", "b_0", "b_1"}, 1), labels({"a", "b"}), others({"x", "y"});
    EXPECT_NE(pair_items(&probs, &labels).advice.find("`class_files`"), std::string::npos);
    EXPECT_EQ(pair_items(&probs, &others).advice, "");
}

TEST(Pairing, ListsTenAndCountsTheRest) {
    const std::vector<BadFile> bad(12, {"x.png", "is bad"});
    const std::string text = list_of(bad, 40);
    EXPECT_TRUE(text.starts_with("12 of 40 files cannot be used: x.png is bad; "));
    EXPECT_TRUE(text.ends_with("; and 2 more"));
}

TEST(Pairing, ARefusalAdvisesToSkipFilesOnlyWhereThatIsPossible) {
    const std::vector<BadFile> bad{{"x.png", "is bad"}};
    const auto said = [&](BadFiles use) -> std::string {
        try {
            refuse_bad(bad, 3, use);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(said(BadFiles::refuse), "1 of 3 files cannot be used: x.png is bad; correct them");
    EXPECT_EQ(said(BadFiles::offer), said(BadFiles::refuse) + ", or continue without them: `skip_bad`");
    EXPECT_EQ(said(BadFiles::skip), "");
}

}  // namespace
}  // namespace kandinsky
