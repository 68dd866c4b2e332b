#include "io/folder/folder_dataset.hpp"
#include "core/data/dataset_access.hpp"

#include <gtest/gtest.h>

#include <kandinsky/error.hpp>
#include <set>

#include "support/thread_ranks.hpp"

namespace kandinsky {
namespace {

using test::on_ranks;

constexpr std::size_t kHeight = 2, kWidth = 3;

/// Volumes of one to four slices; every third slice, counted over all, holds an annotation. The first pixel
/// of a slice tells which one it is.
class Volumes final : public ImageSource {
  public:
    Volumes(std::size_t count, bool labels) : labels_(labels) {
        for (std::size_t i = 0; i < count; ++i) {
            ItemInfo info;
            info.name = "case_" + std::to_string(1000 + i);
            info.path = info.name + ".nii";
            info.slices = 1 + i % 4;
            info.planes = labels ? 0 : 2;
            info.height = kHeight;
            info.width = kWidth;
            info.volume = true;
            first_.push_back(slices_);
            slices_ += info.slices;
            items_.push_back(info);
        }
    }
    [[nodiscard]] std::string_view format() const override { return "test"; }
    [[nodiscard]] static bool annotated(std::size_t slice) { return slice % 3 == 1; }
    [[nodiscard]] std::size_t slices() const { return slices_; }

    [[nodiscard]] Array read(std::size_t item) const override {
        constexpr std::size_t kPixels = kHeight * kWidth;
        const std::size_t slices = items_[item].slices;
        if (labels_) {
            std::vector<std::uint8_t> values(slices * kPixels, 0);
            for (std::size_t s = 0; s < slices; ++s)
                values[s * kPixels + 1] = annotated(first_[item] + s) ? 1 : 0;
            return Array::copy_of(values, {slices, kHeight, kWidth});
        }
        std::vector<float> values(slices * 2 * kPixels, 0.5f);
        for (std::size_t s = 0; s < slices; ++s)
            values[s * 2 * kPixels] = static_cast<float>(first_[item] + s) / 4096;
        return Array::copy_of(values, {slices, 2, kHeight, kWidth});
    }

  private:
    bool labels_;
    std::size_t slices_ = 0;
    std::vector<std::size_t> first_;  ///< [item]: its first slice among all
};

/// The data of one rank: the numbers of its slices, their groups, and the bytes that the rank exchanged.
struct Share {
    std::vector<std::size_t> slices{};
    std::set<std::int64_t> groups{};
    std::uint64_t images = 0, bytes = 0;
};

std::vector<Share> shares(std::size_t ranks, std::size_t volumes, const FolderOptions& options) {
    const Volumes probs(volumes, false), labels(volumes, true);
    return on_ranks<Share>(ranks, [&](std::shared_ptr<const Team> team) {
        const FolderData read = read_rank_part(&probs, &labels, options, *team, false, silent());
        EXPECT_EQ(read.rank_part, ranks > 1);
        Share share{.images = read.provenance["images"].get<std::uint64_t>(),
                    .bytes = team->comm.traffic().bytes};
        const Dataset all(read.probs, read.labels, read.groups, {});
        const Dataset own = as_rank_part(all.subset(read.usable), team);
        std::vector<float> values(2);
        for (std::size_t i = 0; i < own.images(); ++i) {
            own.read_probs(i, {0, 1}, values);
            share.slices.push_back(static_cast<std::size_t>(values[0] * 4096));
            share.groups.insert(own.group_id(i));
            EXPECT_EQ(read.origins[row_of(own, i)].name, read.origins.at(read.usable[i]).name);
        }
        return share;
    });
}

TEST(FolderShare, RanksReadWholeGroupsAndTogetherWhatOneProcessReads) {
    for (const bool only_annotated : {false, true})
        for (const std::size_t ranks : {1, 2, 3, 5, 8})
            for (const std::size_t volumes : {1, 4, 23}) {
                FolderOptions options;
                options.only_annotated = only_annotated;
                std::vector<std::size_t> expected, found;
                for (std::size_t s = 0; s < Volumes(volumes, true).slices(); ++s)
                    if (!only_annotated || Volumes::annotated(s)) expected.push_back(s);
                if (expected.empty()) continue;
                std::set<std::int64_t> seen;
                for (const Share& share : shares(ranks, volumes, options)) {
                    EXPECT_TRUE(std::is_sorted(share.slices.begin(), share.slices.end()));
                    EXPECT_EQ(share.images, expected.size());
                    found.insert(found.end(), share.slices.begin(), share.slices.end());
                    for (const std::int64_t group : share.groups)
                        EXPECT_TRUE(seen.insert(group).second) << "group " << group << " on two ranks";
                }
                std::sort(found.begin(), found.end());
                EXPECT_EQ(found, expected) << ranks << " ranks, " << volumes << " volumes";
            }
}

TEST(FolderShare, GroupsOfSeveralFilesStayTogether) {
    FolderOptions options;
    options.group_by = "case_1?[0-9]*([0-9])$";  // the last digit: ten groups
    std::size_t found = 0;
    std::set<std::int64_t> seen;
    for (const Share& share : shares(3, 40, options)) {
        EXPECT_GT(share.groups.size(), 1u);
        found += share.slices.size();
        for (const std::int64_t group : share.groups) EXPECT_TRUE(seen.insert(group).second);
    }
    EXPECT_EQ(found, Volumes(40, true).slices());
    EXPECT_EQ(seen.size(), 10u);
}

TEST(FolderShare, NetworkVolumeDoesNotDependOnTheNumberOfFiles) {
    FolderOptions options;
    options.only_annotated = true;
    EXPECT_EQ(shares(3, 12, options).front().bytes, shares(3, 240, options).front().bytes);
}

TEST(FolderShare, NoAnnotationOnAnyRankIsAnErrorOfAll) {
    FolderOptions options;
    options.only_annotated = true;
    const Volumes probs(1, false), labels(1, true);  // its one slice has none
    const auto told = on_ranks<std::string>(2, [&](std::shared_ptr<const Team> team) {
        try {
            (void)read_rank_part(&probs, &labels, options, *team, false, silent());
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("none");
    });
    for (const std::string& text : told)
        EXPECT_EQ(text, "no image is left to read: no slice holds an annotation");
}

}  // namespace
}  // namespace kandinsky
