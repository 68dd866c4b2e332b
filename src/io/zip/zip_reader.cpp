#include <algorithm>
#include <atomic>
#include <kandinsky/npy.hpp>
#include <kandinsky/npz.hpp>
#include <numeric>

#include "core/base/fail.hpp"
#include "core/base/pages.hpp"
#include "core/data/array_access.hpp"
#include "io/file/mapped_file.hpp"
#include "io/file/printable.hpp"
#include "io/zip/crc32.hpp"
#include "io/zip/deflate.hpp"
#include "io/zip/zip_records.hpp"

namespace kandinsky {

namespace {
constexpr std::string_view kSuffix = ".npy";

ArrayView byte_view(const std::byte* data, std::size_t bytes) {
    return {.data = data, .dtype = DType::uint8, .shape = {bytes}, .strides = {1}};
}

std::string key_list(const std::vector<std::string>& names) {
    constexpr std::size_t kMostShown = 20;
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < kMostShown; ++i)
        out += (i == 0 ? "" : ", ") + printable(names[i], 80);
    if (names.size() > kMostShown) out += fmt::format(" and {} more", names.size() - kMostShown);
    return out;
}
}  // namespace

ZipReader::ZipReader(const std::filesystem::path& path) : path_(path) {
    MappedFile file = map_file(path);
    ZipDirectory directory = read_zip_directory(file.bytes, printable(path.string(), 4096));
    members_ = std::move(directory.members);
    comment_ = std::move(directory.comment);
    end_record_ = directory.end_record;
    file_ = Array(byte_view(file.bytes.data(), file.bytes.size()), std::move(file.owner));
    if (file.mapped) ArrayAccess::set_in_file(file_);

    found_.assign(members_.size(), -1);
    by_name_.resize(members_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0u);
    const auto name_at = [this](std::uint32_t i) -> const std::string& { return members_[i].name; };
    std::sort(by_name_.begin(), by_name_.end(), [&](auto a, auto b) { return name_at(a) < name_at(b); });
    const auto twin = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                         [&](auto a, auto b) { return name_at(a) == name_at(b); });
    if (twin != by_name_.end())
        fail(ErrorKind::data, "cannot read {}: it has two members named {}", printable(path.string(), 4096),
             printable(name_at(*twin), 80));
}

const ZipReader::Member* ZipReader::find(const std::string& name) const {
    const auto at = std::lower_bound(
        by_name_.begin(), by_name_.end(), name,
        [this](std::uint32_t i, const std::string& wanted) { return members_[i].name < wanted; });
    return at != by_name_.end() && members_[*at].name == name ? &members_[*at] : nullptr;
}

bool ZipReader::has(const std::string& name) const {
    return find(name) != nullptr;
}

Array ZipReader::bytes(const std::string& name) const {
    const Member* const member = find(name);
    const std::string shown = printable(path_.string() + ":" + name, 4096);
    if (member == nullptr) fail(ErrorKind::data, "cannot read {}: there is no such member", shown);
    const std::byte* const stored = file_.view().data + member->data;
    Array content;
    if (member->compression == 0) {
        content = Array(byte_view(stored, member->size), std::make_shared<Array>(file_));
    } else {
        content = Array::zeros(DType::uint8, {member->size});
        inflate_raw({stored, member->stored}, {content.mutable_data(), member->size}, shown);
    }
    const std::int64_t found =
        std::atomic_ref(found_[static_cast<std::size_t>(member - members_.data())]).load();
    if ((found >= 0 ? found : crc32_of_large(content.view().data, member->size)) != member->crc)
        fail(ErrorKind::data, "cannot read {}: its CRC does not match: the file is damaged", shown);
    return content;
}

Array ZipReader::array(const std::string& name) const {
    Array content = bytes(name + std::string(kSuffix));
    const std::span<const std::byte> span(content.view().data, content.view().size());
    const bool in_place = ArrayAccess::in_file(file_) && span.data() >= file_.view().data &&
                          span.data() < file_.view().data + file_.view().size();
    if (in_place) drop_pages(span.data(), span.size());  // the checksum has read all of it
    Array array = parse_npy(span, std::make_shared<Array>(std::move(content)), path_.string() + ":" + name);
    if (in_place && array.view().data >= span.data() && array.view().data < span.data() + span.size())
        ArrayAccess::set_in_file(array);
    return array;
}

std::vector<std::string> ZipReader::array_names() const {
    std::vector<std::string> names;
    for (const Member& member : members_) {
        if (member.name.ends_with(kSuffix))
            names.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
    }
    return names;
}

bool ZipReader::has_checksum() const {
    if (comment_.size() < zip::kChecksumBytes) return false;
    const std::string_view tail = std::string_view(comment_).substr(comment_.size() - zip::kChecksumBytes);
    return tail.starts_with(zip::kChecksumMark) &&
           tail.find_first_not_of("0123456789abcdef", zip::kChecksumMark.size()) == std::string_view::npos;
}

bool ZipReader::checksum_ok() const {
    if (!has_checksum()) return false;
    const std::byte* const all = file_.view().data;
    std::vector<std::size_t> order(members_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return members_[a].data < members_[b].data; });
    // Reads each byte once: the CRC of a member is kept, and then joined with the bytes between members.
    std::size_t at = 0;
    std::uint32_t crc = 0;
    for (const std::size_t i : order) {
        const Member& member = members_[i];
        if (member.compression != 0 || member.data < at || member.data + member.size > end_record_) continue;
        crc = crc32_of_large(all + at, member.data - at, crc);
        const std::uint32_t own = crc32_of_large(all + member.data, member.size);
        std::atomic_ref(found_[i]).store(own);
        crc = crc32_joined(crc, own, member.size);
        at = member.data + member.size;
    }
    crc = crc32_of_large(all + at, end_record_ - at, crc);
    const std::size_t before = comment_.size() - zip::kChecksumBytes;
    return comment_.substr(before) == zip::checksum_text(crc32_of(comment_.data(), before, crc));
}

std::vector<std::string> npz_keys(const std::filesystem::path& path) {
    return ZipReader(path).array_names();
}

Array read_npz(const std::filesystem::path& path, const std::string& key) {
    const ZipReader zip(path);
    const std::string shown = printable(path.string(), 4096);
    const std::vector<std::string> names = zip.array_names();
    if (names.empty()) fail(ErrorKind::data, "cannot read {}: there is no array in it", shown);
    if (key.empty()) {
        if (names.size() > 1)
            fail(ErrorKind::data, "cannot read {}: it holds {} arrays ({}); choose one as {}:KEY", shown,
                 names.size(), key_list(names), shown);
        return zip.array(names.front());
    }
    if (zip.has(key + std::string(kSuffix))) return zip.array(key);
    if (key.ends_with(kSuffix) && zip.has(key)) return zip.array(key.substr(0, key.size() - kSuffix.size()));
    fail(ErrorKind::data, "cannot read {}: there is no array {} in it; it holds {}", shown,
         printable(key, 80), key_list(names));
}

}  // namespace kandinsky
