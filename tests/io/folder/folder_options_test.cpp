#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/folder/folder_dataset.hpp"
#include "io/support.hpp"

namespace kandinsky {
namespace {

using nlohmann::ordered_json;
using test::expect_error;

/// Options whose record has every field.
FolderOptions all_fields() {
    FolderOptions options;
    options.fit = {GridFit::Kind::centre, {4, 6}};
    options.coco.options = {{"cat", "dog"}, CocoCrowd::ignore, CocoOverlap::masks};
    options.coco.letterbox = {8, 9};
    return options;
}

TEST(FolderOptions, APreparationComesBackAsItWas) {
    for (const GridFit::Kind kind : {GridFit::Kind::none, GridFit::Kind::centre, GridFit::Kind::resize})
        for (const bool other : {false, true}) {
            FolderOptions options = all_fields();
            options.fit.kind = kind;
            options.reorient = options.class_files = options.only_annotated = other;
            options.padding = other ? Padding::ignore : Padding::background;
            if (other) options.coco.options.crowd = CocoCrowd::object;
            if (other) options.coco.options.overlap = CocoOverlap::ignore;
            const ordered_json record = preparation_json(options);
            FolderOptions back;
            apply_preparation(record, back);
            EXPECT_EQ(preparation_json(back), record);
            EXPECT_EQ(back.fit.kind, kind);
            EXPECT_EQ(back.reorient, other);
        }
}

TEST(FolderOptions, ARecordWithUnknownWordsIsRefused) {
    const ordered_json good = preparation_json(all_fields());
    const auto refuse = [&](const ordered_json& changes) {
        SCOPED_TRACE(changes.dump());
        ordered_json record = good;
        record.merge_patch(changes);
        FolderOptions options;
        expect_error(ErrorKind::data, {"record of its input files is damaged"},
                     [&] { apply_preparation(record, options); });
    };
    for (const char* const field : {"axis", "orientation", "fit", "padding"}) {
        refuse({{field, "odd"}});
        refuse({{field, 1}});
        refuse({{field, nullptr}});  // removes the field
    }
    for (const char* const field : {"crowd", "overlap"}) {
        refuse({{"coco", {{field, "odd"}}}});
        refuse({{"coco", {{field, nullptr}}}});
    }
}

}  // namespace
}  // namespace kandinsky
