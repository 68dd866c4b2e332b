#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kandinsky {

/// A message in protobuf's wire format, written field by field: a tag, then a number or bytes. An embedded
/// message is stored as bytes. Fields may have any order, so new fields are appended.
class ProtoWriter {
  public:
    void number(unsigned field, std::uint64_t value);
    void text(unsigned field, std::string_view bytes);
    void message(unsigned field, const ProtoWriter& inner) { text(field, inner.bytes_); }
    /// Bytes of whole fields that were written elsewhere.
    void raw(std::string_view fields) { bytes_ += fields; }

    [[nodiscard]] const std::string& bytes() const { return bytes_; }

  private:
    void varint(std::uint64_t value);
    std::string bytes_;
};

/// One field that was read from a message.
struct ProtoField {
    unsigned number = 0;
    std::uint64_t value = 0;   ///< if the field is a varint; numbers of fixed width are skipped
    std::string_view bytes{};  ///< if it is text, bytes or a message
    std::size_t begin = 0;     ///< where the field begins in the message
    std::size_t end = 0;       ///< where the next field begins
    bool is_bytes = false;
};

/// Iterates over the fields of a message without copying. Malformed input throws Error of kind `data` that
/// begins with `name`.
class ProtoReader {
  public:
    ProtoReader(std::string_view message, std::string_view name) : message_(message), name_(name) {}
    /// Advances to the next field; returns false at the end.
    bool next();
    [[nodiscard]] const ProtoField& field() const { return field_; }
    /// Whether the field is number `number` and holds bytes.
    [[nodiscard]] bool has(unsigned number) const { return field_.number == number && field_.is_bytes; }

  private:
    std::uint64_t varint();
    std::string_view take(std::uint64_t bytes);
    [[noreturn]] void refuse() const;

    std::string_view message_, name_;
    std::size_t at_ = 0;
    ProtoField field_;
};

}  // namespace kandinsky
