#include <gtest/gtest.h>

#include <kandinsky/kcal.hpp>
#include <kandinsky/npy.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "calibrate/moody.hpp"
#include "io/kcal/kcal.hpp"
#include "io/support.hpp"
#include "io/zip/zip_reader.hpp"
#include "io/zip/zip_writer.hpp"
#include "support/synthetic.hpp"

namespace kandinsky {
namespace {

using namespace test;

CalibrateOptions options_for(const std::string& method) {
    CalibrateOptions options;
    options.method.name = method;
    options.rungs = 20;
    options.seed = 7;
    return options;
}

const Recipe kRecipe{.images = 30, .classes = 3, .seed = 1, .groups = 6, .ignored = 0.2, .absent = 2};

/// Calibrators of every shape a file may have.
std::vector<Calibrator> calibrators() {
    const Dataset data = make(kRecipe).dataset();
    std::vector<Calibrator> out;
    for (const std::string method : {"pixel", "image", "kmeans"}) {
        CalibrateOptions options = options_for(method);
        out.push_back(calibrate(data, options));
        options.condition = Condition::none;
        options.pooling = Pooling::pixels;
        options.fallback = Fallback::image;
        options.min_count = 18;
        out.push_back(calibrate(data, options));
        options.released = true;
        out.push_back(calibrate(data, options));
    }
    CalibrateOptions masked = options_for("mask");
    masked.method.settings.arrays["mask"] =
        Array::copy_of(std::vector<std::uint8_t>{0, 0, 5, 5, 0, 0, 5, 5, 0, 0, 0, 0}, {3, 4});
    out.push_back(calibrate(data, masked));
    CalibrateOptions clusters = options_for("kmeans");
    clusters.method.settings.text["kmeans-clusters"] = "2";
    out.push_back(calibrate(data, clusters));
    for (const ScoreOptions& score :
         {ScoreOptions{.kind = ScoreKind::margin},
          ScoreOptions{.kind = ScoreKind::raps, .raps_lambda = 0.3, .raps_kreg = 2},
          ScoreOptions{.kind = ScoreKind::saps, .randomized = true, .saps_weight = 0.7}}) {
        CalibrateOptions scored = options_for("image");
        scored.score = score;
        out.push_back(calibrate(data, scored));
    }
    out.push_back(out.back());
    out.back().logits = Logits::softmax;
    out.back().ignore = {2, 9};
    return out;
}

/// The members of an archive, to be changed and written again with a right checksum.
using Members = std::vector<std::pair<std::string, std::string>>;

Members members_of(const std::filesystem::path& path) {
    const ZipReader archive(path);
    Members out;
    for (const auto& member : archive.members()) {
        const Array bytes = archive.bytes(member.name);
        out.emplace_back(member.name, std::string(bytes.data_as<char>(), bytes.view().size()));
    }
    return out;
}

void write(const std::filesystem::path& path, const Members& members, bool checksum = true) {
    AtomicFile file(path);
    ZipWriter zip(file);
    for (const auto& [name, content] : members) zip.add(name, bytes_of(content));
    zip.finish("kandinsky calibrator ", checksum);
    file.commit();
}

std::string npy(const Array& array) {
    const Folder folder;
    write_npy(folder / "a.npy", array.view());
    return slurp(folder / "a.npy");
}

class DamagedCalibrator : public testing::Test {
  protected:
    DamagedCalibrator() {
        save(calibrate(make(kRecipe).dataset(), options_for("kmeans")), folder_ / "good.kcal");
    }

    /// Changes the content of one member and expects load() to refuse it.
    template <class Change>
    void refuse(const std::string& member, const std::vector<std::string>& parts, Change&& change) {
        Members members = members_of(folder_ / "good.kcal");
        bool found = false;
        for (auto& [name, content] : members)
            if (name == member) content = change(content), found = true;
        ASSERT_TRUE(found) << member;
        write(folder_ / "bad.kcal", members);
        SCOPED_TRACE(member);
        expect_error(ErrorKind::data, parts, [&] { (void)load(folder_ / "bad.kcal"); });
    }
    template <class Change>
    void refuse_meta(const std::vector<std::string>& parts, Change&& change) {
        refuse("meta.json", parts, [&](const std::string& content) {
            auto meta = nlohmann::ordered_json::parse(content);
            change(meta);
            return meta.dump();
        });
    }
    Folder folder_;
};

TEST(Kcal, ComesBackAsItWas) {
    const Folder folder;
    for (const Calibrator& original : calibrators()) {
        SCOPED_TRACE(describe(original));
        save(original, folder / "a.kcal");
        const Calibrator back = load(folder / "a.kcal");
        save(back, folder / "b.kcal");
        EXPECT_TRUE(slurp(folder / "a.kcal") == slurp(folder / "b.kcal"));
        EXPECT_EQ(describe(back), describe(original));
        for (const double alpha : {0.0, 0.05, 0.1, 0.33, 1.0}) {
            const auto ours = score_thresholds(back, alpha), theirs = score_thresholds(original, alpha);
            ASSERT_EQ(ours.size(), theirs.size());
            EXPECT_EQ(std::memcmp(ours.data(), theirs.data(), ours.size() * 4), 0);  // NaN equals itself
        }
        EXPECT_EQ(back.levels, original.levels);
        EXPECT_EQ(back.counts, original.counts);
        EXPECT_EQ(back.fingerprint, original.fingerprint);
        EXPECT_EQ(guarantee(back), guarantee(original));
        EXPECT_EQ(back.options.method.settings.text, original.options.method.settings.text);
        EXPECT_EQ(back.options.score, original.options.score);
        EXPECT_EQ(back.logits, original.logits);
        EXPECT_EQ(back.ignore, original.ignore);
    }
}

TEST(Kcal, KeepsConfidenceRiskAndTheLevelsOfPrecision) {
    const Folder folder;
    for (const Risk risk : {Risk::recall, Risk::precision, Risk::both}) {
        CalibrateOptions options{.score = {}};
        options.method.name = "image";
        options.confidence = 0.9;
        options.risk = risk;
        const Calibrator original =
            calibrate(make({.images = 60, .classes = 2, .seed = 3}).dataset(), options);
        save(original, folder / "a.kcal");
        const Calibrator back = load(folder / "a.kcal");
        save(back, folder / "b.kcal");
        EXPECT_TRUE(slurp(folder / "a.kcal") == slurp(folder / "b.kcal"));
        EXPECT_EQ(back.options.confidence, 0.9);
        EXPECT_EQ(back.options.risk, risk);
        EXPECT_EQ(guarantee(back), guarantee(original));
        EXPECT_EQ(nlohmann::json::parse(describe(back))["format_version"], 4);
        ASSERT_EQ(back.risks.size(), risk == Risk::recall ? 0u : 2u);
        for (std::size_t s = 0; s < back.risks.size(); ++s) {
            EXPECT_EQ(back.risks[s].least_alpha, original.risks[s].least_alpha);
            EXPECT_EQ(back.risks[s].rungs, original.risks[s].rungs);
            EXPECT_EQ(back.risks[s].rungs.empty(), risk == Risk::both);
        }
    }
}

TEST(Kcal, HoldsStoredArraysAndAMetaFile) {
    const Folder folder;
    save(calibrators().front(), folder / "a.kcal");
    const ZipReader archive(folder / "a.kcal");
    EXPECT_EQ(archive.members().front().name, "meta.json");
    for (const auto& member : archive.members()) EXPECT_EQ(member.compression, 0);
    EXPECT_TRUE(archive.checksum_ok());
    EXPECT_EQ(archive.array("regions").shape(), (std::vector<std::size_t>{3, 3, 4}));
    const auto meta = nlohmann::json::parse(describe(calibrators().front()));
    EXPECT_EQ(meta["format"], "kcal");
    EXPECT_EQ(meta["format_version"], 2)
        << "levels do not follow images, so programs that know format version 2 can read the file";
    EXPECT_EQ(meta["data"]["images"], 30);
    EXPECT_FALSE(meta["guarantee"].get<std::string>().empty());
}

TEST_F(DamagedCalibrator, IsRefusedWhereverItEnds) {
    const std::string whole = slurp(folder_ / "good.kcal");
    for (std::size_t size = 0; size < whole.size(); size += 97) {
        spill(folder_ / "cut.kcal", std::string_view(whole).substr(0, size));
        EXPECT_THROW((void)load(folder_ / "cut.kcal"), Error) << size;
    }
}

TEST_F(DamagedCalibrator, IsRefusedWhicheverByteIsWrong) {
    std::string bytes = slurp(folder_ / "good.kcal");
    for (std::size_t at = 0; at < bytes.size(); at += 31) {
        const char original = bytes[at];
        bytes[at] = static_cast<char>(original ^ 0x10);
        spill(folder_ / "flipped.kcal", bytes);
        EXPECT_THROW((void)load(folder_ / "flipped.kcal"), Error) << "byte " << at;
        bytes[at] = original;
    }
}

TEST_F(DamagedCalibrator, RewrittenWithoutAChangeIsFine) {
    write(folder_ / "same.kcal", members_of(folder_ / "good.kcal"));
    EXPECT_NO_THROW((void)load(folder_ / "same.kcal"));
    write(folder_ / "unsigned.kcal", members_of(folder_ / "good.kcal"), false);
    expect_error(ErrorKind::data, {"damaged", "checksum"}, [&] { (void)load(folder_ / "unsigned.kcal"); });
}

TEST_F(DamagedCalibrator, NewerOrForeignFormatsAreRefused) {
    refuse_meta({"version 7", "update kandinsky"}, [](auto& m) { m["format_version"] = kKcalVersion + 1; });
    refuse_meta({"version 5000000000"}, [](auto& m) { m["format_version"] = 5000000000; });
    refuse_meta({"format version"}, [](auto& m) { m["format_version"] = 0; });
    refuse_meta({"format version"}, [](auto& m) { m["format_version"] = "1"; });
    refuse_meta({"format version"}, [](auto& m) { m.erase("format_version"); });
    refuse_meta({"not a calibrator"}, [](auto& m) { m["format"] = "cake"; });
    refuse_meta({"not a calibrator"}, [](auto& m) { m["format"] = 5; });
    refuse("meta.json", {"not a calibrator"}, [](const std::string&) { return "[1, 2]"; });
    refuse("meta.json", {"meta.json is damaged"}, [](const std::string&) { return "{"; });
    spill(folder_ / "text.kcal", "this is no zip archive, however long one looks at it");
    expect_error(ErrorKind::data, {"text.kcal"}, [&] { (void)load(folder_ / "text.kcal"); });
    write(folder_ / "other.npz", {{"a.npy", npy(Array::zeros(DType::float32, {3}))}});
    expect_error(ErrorKind::data, {"other.npz", "not a calibrator"},
                 [&] { (void)load(folder_ / "other.npz"); });
    expect_error(ErrorKind::file, {"absent.kcal"}, [&] { (void)load(folder_ / "absent.kcal"); });
}

TEST_F(DamagedCalibrator, MetaThatDoesNotFitIsRefused) {
    refuse_meta({"meta.json"}, [](auto& m) { m.erase("options"); });
    refuse_meta({"meta.json"}, [](auto& m) { m["method"] = 3; });
    refuse_meta({"condition 'odd'"}, [](auto& m) { m["options"]["condition"] = "odd"; });
    refuse_meta({"logits"}, [](auto& m) { m["data"]["logits"] = "tanh"; });
    refuse_meta({"meta.json"}, [](auto& m) { m["data"]["ignore"] = "none"; });
    refuse_meta({"fingerprint"}, [](auto& m) { m["data"]["fingerprint"] = "abc"; });
    const std::string digits(31, '1');
    for (const std::string& wrong : {std::string(32, 'x'), "+" + digits, "-" + digits, " " + digits,
                                     "0x" + digits.substr(1), digits + " ", digits + "11"})
        refuse_meta({"bad.kcal: the fingerprint is damaged"},
                    [&](auto& m) { m["data"]["fingerprint"] = wrong; });
    refuse_meta({"do not fit"}, [](auto& m) { m["data"]["classes"] = 4; });
    refuse_meta({"do not fit"}, [](auto& m) { m["data"]["height"] = 0; });
    refuse_meta({"shape"}, [](auto& m) { m["data"]["height"] = 4; });
    refuse_meta({"curves"}, [](auto& m) { m["strata"][1]["regions"] = 7; });
    refuse_meta({"curves"},
                [](auto& m) { m["options"]["fallback"] = "image", m["options"]["promise"] = "none"; });
}

TEST_F(DamagedCalibrator, MetaThatNestsDeepIsRefusedBeforeTheStackEnds) {
    const auto nested = [](const std::string& content, std::size_t depth) {
        const std::string deep = std::string(depth, '[') + std::string(depth, ']');
        auto meta = nlohmann::ordered_json::parse(content);
        meta["strata"][0]["geometry"] = {{"kind", "MARK"}};
        std::string text = meta.dump();
        return text.replace(text.find("\"MARK\""), 6, deep);
    };
    refuse("meta.json", {"nests deeper"},
           [&](const std::string& content) { return nested(content, 1000000); });
    // Brackets within strings do not count as depth.
    Members members = members_of(folder_ / "good.kcal");
    auto meta = nlohmann::ordered_json::parse(members.front().second);
    meta["strata"][0]["geometry"] = {{"kind", "\\\"" + std::string(1000, '[')}};
    members.front().second = meta.dump();
    write(folder_ / "text.kcal", members);
    EXPECT_NO_THROW((void)load(folder_ / "text.kcal"));
}

TEST_F(DamagedCalibrator, WhatAMessageQuotesIsPrintable) {
    refuse_meta({"condition 'o\\x1bdd'"}, [](auto& m) { m["options"]["condition"] = "o\033dd"; });
    refuse_meta({"not an object"}, [](auto& m) { m["strata"][0]["geometry"] = {1, 2}; });
}

TEST_F(DamagedCalibrator, MissingMembersAreNamed) {
    const Members good = members_of(folder_ / "good.kcal");
    for (std::size_t k = 0; k < good.size(); ++k) {
        Members some = good;
        const std::string name = some[k].first;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(k));
        write(folder_ / "less.kcal", some);
        expect_error(ErrorKind::data, {name.substr(0, name.find('.'))},
                     [&] { (void)load(folder_ / "less.kcal"); });
    }
}

TEST_F(DamagedCalibrator, ArraysOfAnotherShapeTypeOrMeaningAreRefused) {
    const auto with = [](const Array& array) { return [array](const std::string&) { return npy(array); }; };
    for (const std::string name :
         {"regions", "counts", "curve_level", "first_curve", "curve_values", "curve_offsets", "curve_scores",
          "curve_groups", "curve_complete", "levels"}) {
        refuse(name + ".npy", {name, "type or shape"}, with(Array::zeros(DType::int16, {3, 3, 4})));
        refuse(name + ".npy", {name}, [](const std::string&) { return "not an array"; });
        refuse(name + ".npy", {"bad.kcal"},
               with(Array::zeros(ZipReader(folder_ / "good.kcal").array(name).dtype(), {2})));
    }
    const auto changed = [&](const std::string& name, auto value, std::size_t at) {
        const Array array = ZipReader(folder_ / "good.kcal").array(name);
        auto values = array.to_vector<decltype(value)>();
        values.at(at) = value;
        return with(Array::copy_of(values, array.shape()));
    };
    refuse("regions.npy", {"stratum 1", "does not exist"}, changed("regions", std::uint32_t{99}, 13));
    refuse("curve_level.npy", {"stratum 0", "does not exist"}, changed("curve_level", std::uint8_t{1}, 0));
    refuse("curve_level.npy", {"does not exist"}, changed("curve_level", std::uint8_t{3}, 0));
    refuse("first_curve.npy", {"wrong number of curves"}, changed("first_curve", std::uint64_t{1} << 60, 1));
    refuse("curve_offsets.npy", {"damaged"}, changed("curve_offsets", ~std::uint64_t{0}, 1));
    refuse("curve_scores.npy", {"damaged"}, changed("curve_scores", std::uint64_t{0}, 0));
    refuse("curve_values.npy", {"not ascending"},
           changed("curve_values", std::numeric_limits<float>::quiet_NaN(), 2));
}

/// A calibrator whose levels follow the image, for classes 0 and 1; class 2 has no scores.
class DamagedAdaptation : public DamagedCalibrator {
  protected:
    DamagedAdaptation() {
        Made made = moody(3, 40, 3);
        for (std::uint8_t& label : made.truth) label = label == 2 ? 0 : label;
        CalibrateOptions options = options_for("field");
        options.adapt = Adapt::image;
        options.promise = Promise::none;
        save(calibrate(made.dataset(), options), folder_ / "good.kcal");
        const Array array = ZipReader(folder_ / "good.kcal").array("adapt_shifts");
        shape_ = array.shape();
        numbers_ = array.to_vector<double>();
    }

    /// Expects load() to refuse the file if this number of the first shift is changed.
    void refuse_shift(std::size_t at, double value, const std::vector<std::string>& parts) {
        std::vector<double> changed = numbers_;
        changed.at(at) = value;
        refuse("adapt_shifts.npy", parts,
               [&](const std::string&) { return npy(Array::copy_of(changed, shape_)); });
    }
    std::vector<std::size_t> shape_;
    std::vector<double> numbers_;  ///< stratum, slopes, lowest and highest features, constant
};

TEST_F(DamagedAdaptation, AShiftOfAClassWithoutScoresIsRefused) {
    const Calibrator good = load(folder_ / "good.kcal");
    ASSERT_TRUE(good.smooth_of(2)->without_data());
    ASSERT_EQ(numbers_.front(), 0) << "choose another seed";
    refuse_shift(0, 2, {"bad.kcal is damaged", "belongs to no stratum that has scores"});
    refuse_shift(0, 3, {"bad.kcal is damaged", "belongs to no stratum that has scores"});
}

TEST_F(DamagedAdaptation, AShiftThatNoFitHasIsRefused) {
    constexpr std::size_t kSlope = 1, kConstant = 1 + 3 * ImageFeatures::kCount;
    ASSERT_EQ(shape_[1], kConstant + 1);
    for (const double huge : {1e308, -1e308})
        for (const std::size_t at : {kSlope, kConstant})
            refuse_shift(at, huge, {"bad.kcal is damaged", "a shift of the levels is invalid"});
}

}  // namespace
}  // namespace kandinsky
