#include "partition/typed_options.hpp"

#include <gtest/gtest.h>
#include <kandinsky/calibrator.hpp>

namespace kandinsky {
namespace {

/// The options of a method and their defaults, without arrays.
OptionWords declared(const std::string& name) {
    OptionWords out;
    for (const MethodOption& option : method(name).options)
        if (option.type != MethodOption::Type::array) out.emplace_back(option.flag, option.standard);
    return out;
}

TEST(TypedOptions, AreTheDeclaredOnesWithTheirDefaults) {
    EXPECT_EQ(words_of(KmeansOptions{}), declared("kmeans"));
    EXPECT_EQ(words_of(GenannOptions{}), declared("genann"));
    EXPECT_EQ(words_of(FccOptions{}), declared("fcc"));
    EXPECT_EQ(words_of(FieldOptions{}), declared("field"));
    for (const char* const name : {"pixel", "image", "mask"}) EXPECT_TRUE(declared(name).empty()) << name;
}

TEST(TypedOptions, ExistForEveryMethod) {
    std::vector<std::string> typed;
    for (const MethodChoice& choice :
         std::vector<MethodChoice>{PixelOptions{}, ImageOptions{}, MaskOptions{}, KmeansOptions{},
                                   GenannOptions{}, FccOptions{}, FieldOptions{}})
        typed.push_back(choice.name);
    std::vector<std::string> known;
    for (const Method* one : methods()) known.push_back(one->name);
    std::sort(typed.begin(), typed.end());
    std::sort(known.begin(), known.end());
    EXPECT_EQ(typed, known);
}

TEST(TypedOptions, BecomeWordsWhereTheyDifferFromTheDefault) {
    using Words = std::map<std::string, std::string>;
    EXPECT_EQ(MethodChoice(KmeansOptions{}).settings.text, Words());
    EXPECT_EQ(MethodChoice(KmeansOptions{.clusters = 4, .restarts = 2}).settings.text,
              (Words{{"kmeans-clusters", "4"}, {"kmeans-restarts", "2"}}));
    EXPECT_EQ(MethodChoice(GenannOptions{.shape = GenannOptions::Shape::circle,
                                         .metric = GenannOptions::Metric::manhattan,
                                         .bounds = GenannOptions::Bounds::coco,
                                         .weights = GenannOptions::Weights::counts})
                  .settings.text,
              (Words{{"genann-shape", "circle"},
                     {"genann-metric", "manhattan"},
                     {"genann-bounds", "coco"},
                     {"genann-weights", "counts"}}));
    EXPECT_EQ(MethodChoice(FccOptions{.limit = FccOptions::Limit::circle,
                                      .centre = FccOptions::Centre::middle,
                                      .variance = FccOptions::Variance::mean,
                                      .penalty = 1e-3})
                  .settings.text,
              (Words{{"fcc-limit", "circle"},
                     {"fcc-centre", "middle"},
                     {"fcc-variance", "mean"},
                     {"fcc-penalty", "0.001"}}));
    EXPECT_EQ(MethodChoice(FieldOptions{.fold_order = FieldOptions::FoldOrder::contiguous,
                                        .place = 0.5,
                                        .mirror = false,
                                        .bandwidths = {2, 4.5}})
                  .settings.text,
              (Words{{"field-fold-order", "contiguous"},
                     {"place", "0.5"},
                     {"field-mirror", "off"},
                     {"field-bandwidths", "2,4.5"}}));
    EXPECT_EQ(
        MethodChoice(MaskOptions{.mask = Array::zeros(DType::int32, {2, 3})}).settings.arrays.count("mask"),
        1u);
}

TEST(TypedOptions, ANameAloneHasNoSettings) {
    EXPECT_EQ(MethodChoice().name, default_method());
    EXPECT_EQ(MethodChoice("pixel").name, "pixel");
    EXPECT_EQ(MethodChoice(kAutoMethod).name, "auto");
    EXPECT_TRUE(MethodChoice("kmeans").settings.text.empty());
}

}  // namespace
}  // namespace kandinsky
