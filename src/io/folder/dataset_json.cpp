#include "io/folder/dataset_json.hpp"

#include <nlohmann/json.hpp>

#include "core/base/fail.hpp"
#include "io/file/mapped_file.hpp"
#include "io/json/json_depth.hpp"

namespace kandinsky {

namespace fs = std::filesystem;

std::optional<std::int64_t> ignore_label(const fs::path& folder) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(folder, ignored).lexically_normal();
    const fs::path above = (absolute.has_filename() ? absolute : absolute.parent_path()).parent_path();
    for (const fs::path& file : {folder / "dataset.json", above / "dataset.json"}) {
        if (!fs::is_regular_file(file, ignored)) continue;
        const MappedFile content = map_file(file);
        constexpr std::size_t kMost = std::size_t{64} << 20;
        if (content.bytes.size() > kMost) fail(ErrorKind::data, "{} is too large", file.string());
        constexpr std::size_t kDeepest = 64;
        if (nests_deeper(content.text(), kDeepest))
            fail(ErrorKind::data, "{} nests deeper than {}", file.string(), kDeepest);
        const auto json = nlohmann::json::parse(content.text(), nullptr, false);
        if (json.is_discarded())
            fail(ErrorKind::data, "{} is not valid JSON; mend or remove it", file.string());
        // nnU-Net: {"background": 0, "ignore": 3}. Decathlon: {"0": "background"}, which has no ignore label.
        const auto labels = json.is_object() ? json.find("labels") : json.end();
        if (!json.is_object() || labels == json.end() || !labels->is_object()) return std::nullopt;
        const auto entry = labels->find("ignore");
        if (entry == labels->end()) return std::nullopt;
        if (!entry->is_number_integer())
            fail(ErrorKind::data, "{}: the label 'ignore' is not a number", file.string());
        return entry->get<std::int64_t>();
    }
    return std::nullopt;
}

}  // namespace kandinsky
