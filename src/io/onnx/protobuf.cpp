#include "io/onnx/protobuf.hpp"

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
}  // namespace

void ProtoWriter::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
}

void ProtoWriter::number(unsigned field, std::uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
}

void ProtoWriter::text(unsigned field, std::string_view bytes) {
    varint(field << 3 | kBytes);
    varint(bytes.size());
    bytes_ += bytes;
}

void ProtoReader::refuse() const {
    fail(ErrorKind::data, "{}: this is not an ONNX model, or it is damaged", name_);
}

std::uint64_t ProtoReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ == message_.size()) refuse();
        const auto byte = static_cast<std::uint8_t>(message_[at_++]);
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return value;
    }
    refuse();
}

std::string_view ProtoReader::take(std::uint64_t bytes) {
    if (bytes > message_.size() - at_) refuse();
    const std::string_view taken = message_.substr(at_, static_cast<std::size_t>(bytes));
    at_ += taken.size();
    return taken;
}

bool ProtoReader::next() {
    if (at_ == message_.size()) return false;
    field_ = {.begin = at_};
    const std::uint64_t tag = varint();
    if (tag >> 3 == 0 || tag >> 32 != 0) refuse();
    field_.number = static_cast<unsigned>(tag >> 3);
    switch (static_cast<unsigned>(tag & 7)) {
        case kVarint:
            field_.value = varint();
            break;
        case kFixed64:
            take(8);
            break;
        case kBytes:
            field_.is_bytes = true;
            field_.bytes = take(varint());
            break;
        case kFixed32:
            take(4);
            break;
        default:  // groups, which ONNX does not have
            refuse();
    }
    field_.end = at_;
    return true;
}

}  // namespace kandinsky
