#include "model/stage.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "io/file/atomic_file.hpp"
#include "io/file/mapped_file.hpp"
#include "io/zip/crc32.hpp"

namespace kandinsky {

using nlohmann::ordered_json;

namespace {
std::filesystem::path note_of(const std::filesystem::path& folder, const Stage& stage) {
    return folder / (stage.name + ".done");
}

ordered_json describe(const std::filesystem::path& file) {
    const MappedFile content = map_file(file);
    return {{"bytes", content.bytes.size()},
            {"crc32", fmt::format("{:08x}", crc32_of(content.bytes.data(), content.bytes.size()))}};
}
}  // namespace

bool is_done(const std::filesystem::path& folder, const Stage& stage) {
    std::error_code ignored;
    if (!std::filesystem::exists(note_of(folder, stage), ignored)) return false;
    const MappedFile file = map_file(note_of(folder, stage));
    const ordered_json note = ordered_json::parse(file.text(), nullptr, false);
    if (!note.is_object() || note.value("recipe", "") != stage.recipe || !note.contains("outputs"))
        return false;
    for (const std::string& name : stage.outputs) {
        if (!note["outputs"].contains(name) || !std::filesystem::exists(folder / name, ignored)) return false;
        if (note["outputs"][name] != describe(folder / name)) return false;
    }
    return true;
}

bool run_stage(const std::filesystem::path& folder, const Stage& stage) {
    if (is_done(folder, stage)) return false;
    std::error_code ignored;
    std::filesystem::remove(note_of(folder, stage), ignored);
    stage.work();
    ordered_json note{{"stage", stage.name}, {"recipe", stage.recipe}, {"outputs", ordered_json::object()}};
    for (const std::string& name : stage.outputs) {
        if (!std::filesystem::exists(folder / name, ignored))
            fail(ErrorKind::internal, "[experiment] stage {} made no {}", stage.name, name);
        note["outputs"][name] = describe(folder / name);
    }
    AtomicFile file(note_of(folder, stage));
    file.write(note.dump(1) + "\n");
    file.commit();
    return true;
}

}  // namespace kandinsky
