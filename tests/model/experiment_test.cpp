#include "model/experiment.hpp"

#include <gtest/gtest.h>

#include "io/support.hpp"

namespace kandinsky {
namespace {

using test::Folder;
using test::slurp;
using test::spill;

/// Runs a stage that writes "made"; returns whether it did the work.
bool done_again(const Folder& folder, const std::string& recipe) {
    return run_stage(folder.path(), {"step", recipe, {"made"}, [&] { spill(folder / "made", recipe); }});
}

TEST(RunStage, RepeatsTheWorkForAnotherRecipeOrAChangedOutput) {
    const Folder folder;
    EXPECT_TRUE(done_again(folder, "first"));
    EXPECT_FALSE(done_again(folder, "first"));
    EXPECT_TRUE(done_again(folder, "second"));
    EXPECT_EQ(slurp(folder / "made"), "second");
    spill(folder / "made", "damage");
    EXPECT_TRUE(done_again(folder, "second"));
    EXPECT_EQ(slurp(folder / "made"), "second");
}

TEST(RunStage, RepeatsTheWorkIfTheNoteHasAnotherForm) {
    const Folder folder;
    EXPECT_TRUE(done_again(folder, "first"));
    const std::string note = slurp(folder / "step.done");
    for (const std::string text :
         {R"({"recipe": 3, "outputs": {}})", R"({"recipe": null, "outputs": {}})", R"({"recipe": ["first"]})",
          R"({"recipe": "first", "outputs": 3})", R"({"recipe": "first"})", "[]", "no JSON", ""}) {
        spill(folder / "step.done", text);
        EXPECT_TRUE(done_again(folder, "first")) << text;
        EXPECT_EQ(slurp(folder / "step.done"), note) << text;
    }
}

TEST(ReadExperiment, RefusesBatchesWithoutImages) {
    const Folder folder;
    const auto write = [&](const std::string& batch) {
        const std::string text = R"({"name": "e", "compare": {}, "training": {"batch": BATCH},
            "data": {"format": "png", "images": "i", "labels": "l", "grid": [4, 4], "intensity": "byte"},
            "split": {"train": 1, "calibration": 1, "test": 1}})";
        spill(folder / "e.json", std::string(text).replace(text.find("BATCH"), 5, batch));
    };
    write("1");
    EXPECT_EQ(read_experiment(folder / "e.json").training.batch, 1u);
    write("0");
    test::expect_error(ErrorKind::data, {"e.json", "\"batch\" of \"training\" is 0, but must be at least 1"},
                       [&] { (void)read_experiment(folder / "e.json"); });
}

}  // namespace
}  // namespace kandinsky
