#pragma once

#include <simdjson.h>

#include "core/base/fail.hpp"
#include "io/coco/coco.hpp"
#include "io/file/mapped_file.hpp"
#include "io/json/json_outline.hpp"

namespace kandinsky {

namespace coco {

namespace ondemand = simdjson::ondemand;

/// What is wrong with an object; the text follows the object's name: 'has no "id"'.
struct Problem {
    std::string text;
};

/// simdjson reads some bytes past the end of its input, which a mapped file may not have. Pieces are
/// therefore copied into a buffer of this object; usual pieces fit into the processor's cache. The parser's
/// memory is reused.
class PieceParser {
  public:
    /// Parses consecutive elements of an array as an array, valid until the next call. Throws Problem.
    ondemand::document elements(std::string_view piece) {
        buffer_.assign(1, '[');
        buffer_ += piece;
        buffer_ += ']';
        shift_ = 1;
        return start();
    }
    /// Parses a single value, valid until the next call. Throws Problem.
    ondemand::document value(std::string_view piece) {
        buffer_.assign(piece);
        shift_ = 0;
        return start();
    }

    /// The offset of `part`, a view into the document, from the start of the piece.
    [[nodiscard]] std::size_t offset_of(std::string_view part) const {
        return static_cast<std::size_t>(part.data() - buffer_.data()) - shift_;
    }

  private:
    ondemand::document start() {
        const std::size_t length = buffer_.size();
        buffer_.append(simdjson::SIMDJSON_PADDING, ' ');
        ondemand::document document;
        const auto error = parser_.iterate(buffer_.data(), length, buffer_.size()).get(document);
        if (error != simdjson::SUCCESS)
            throw Problem{fmt::format("is damaged JSON ({})", simdjson::error_message(error))};
        return document;
    }

    std::string buffer_;
    std::size_t shift_ = 0;
    ondemand::parser parser_;
};

/// The value. Throws Problem with `complaint` if it has another type or is damaged.
template <class T>
[[nodiscard]] T take(simdjson::simdjson_result<T> result, const char* complaint) {
    T value{};
    const auto error = std::move(result).get(value);
    if (error != simdjson::SUCCESS)
        throw Problem{fmt::format("{} ({})", complaint, simdjson::error_message(error))};
    return value;
}

/// An annotation of a selected category. `outline` is a range of bytes of the mapped file.
struct Annotation {
    std::int64_t id = 0;
    TextRange outline;
    std::uint32_t image = 0;
    std::uint16_t klass = 0;  ///< from 1
    bool crowd = false;
};
}  // namespace coco

/// The index of a file; built once, then only read.
struct CocoFile::Index : Listing {
    std::string name;  ///< in messages
    MappedFile file;
    CocoOptions options;
    std::vector<coco::Annotation> annotations;  ///< by image, then in the file's order
    std::vector<std::size_t> first;             ///< [image] its first annotation, and the end
};

}  // namespace kandinsky
