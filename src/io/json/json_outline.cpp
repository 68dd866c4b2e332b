#include "io/json/json_outline.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/base/fail.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/json/json_outline.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kandinsky {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bit i % 64 of marks[i / 64] is set if text[i] is a bracket ([ ] { }) or a quote. `blocks` is the number of
/// words, so 64 * blocks bytes are read. No allocation; memory speed.
void FindJsonMarks(const char* text, std::size_t blocks, std::uint64_t* marks) {
    const hn::CappedTag<std::uint8_t, 64> d;
    const std::size_t lanes = hn::Lanes(d);
    std::memset(marks, 0, blocks * sizeof *marks);
#if HWY_TARGET == HWY_SCALAR
    for (std::size_t i = 0; i < blocks * 64; ++i) {
        const int folded = static_cast<unsigned char>(text[i]) & 0xDF;
        marks[i / 64] |= std::uint64_t{folded == '[' || folded == ']' || text[i] == '"'} << (i % 64);
    }
    (void)lanes;
#else
    // '[' and '{' differ in one bit only, and so do ']' and '}'.
    const auto fold = hn::Set(d, 0xDF), open = hn::Set(d, '['), close = hn::Set(d, ']'),
               quote = hn::Set(d, '"');
    auto* out = reinterpret_cast<std::uint8_t*>(marks);
    for (std::size_t i = 0; i < blocks * 64; i += lanes, out += lanes / 8) {
        const auto bytes = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(text) + i);
        const auto folded = hn::And(bytes, fold);
        const auto mask = hn::Or(hn::Or(hn::Eq(folded, open), hn::Eq(folded, close)), hn::Eq(bytes, quote));
        hn::StoreMaskBits(d, mask, out);
    }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace kandinsky
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kandinsky {

HWY_EXPORT(FindJsonMarks);

namespace {
/// A word has the marks of kWord bytes. The marks of kChunk bytes are found at a time.
constexpr std::size_t kWord = 64, kWords = 64, kChunk = kWord * kWords;

/// Iterates over the brackets outside of strings.
class Brackets {
  public:
    Brackets(std::string_view text, const std::string& name) : text_(text), name_(name) { load(0); }

    /// The place of the next bracket; the text's end if there is none.
    std::size_t next() {
        for (;;) {
            const std::size_t at = next_mark();
            if (at == text_.size() || text_[at] != '"') return at;
            skip_string(at);
        }
    }

    /// Skips the string that opens at `quote`; returns the place after its closing quote.
    std::size_t string_from(std::size_t quote) {
        seek(quote + 1);
        return skip_string(quote);
    }

    void seek(std::size_t place) {
        const std::size_t chunk = place / kChunk * kChunk;
        if (chunk != chunk_) load(chunk);
        word_ = (place - chunk) / kWord;
        bits_ = marks_[word_] & ~std::uint64_t{0} << (place % kWord);
    }

  private:
    void load(std::size_t chunk) {
        chunk_ = chunk;
        const std::size_t left = text_.size() - std::min(chunk, text_.size());
        const std::size_t whole = std::min(left / kWord, kWords);
        HWY_DYNAMIC_DISPATCH(FindJsonMarks)(text_.data() + std::min(chunk, text_.size()), whole, marks_);
        std::fill(marks_ + whole, marks_ + kWords, 0);
        if (whole < kWords && left % kWord != 0) {
            char last[kWord] = {};
            std::memcpy(last, text_.data() + chunk + whole * kWord, left % kWord);
            HWY_DYNAMIC_DISPATCH(FindJsonMarks)(last, 1, marks_ + whole);
        }
        word_ = 0;
        bits_ = marks_[0];
    }

    std::size_t next_mark() {
        while (bits_ == 0) {
            if (++word_ < kWords) {
                bits_ = marks_[word_];
            } else {
                if (chunk_ + kChunk >= text_.size()) {
                    word_ = kWords - 1;
                    return text_.size();
                }
                load(chunk_ + kChunk);
            }
        }
        const std::size_t at = chunk_ + word_ * kWord + static_cast<std::size_t>(std::countr_zero(bits_));
        bits_ &= bits_ - 1;
        return at;
    }

    std::size_t skip_string(std::size_t quote) {
        for (;;) {
            const std::size_t at = next_mark();
            if (at == text_.size())
                fail(ErrorKind::data,
                     "{}: the string that begins at byte {} has no end; the file is truncated", name_, quote);
            if (text_[at] != '"') continue;
            std::size_t slashes = 0;  // an odd number makes the quote a part of the string
            while (at - slashes - 1 > quote && text_[at - slashes - 1] == '\\') ++slashes;
            if (slashes % 2 == 0) return at + 1;
        }
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t chunk_ = 0, word_ = 0;
    std::uint64_t bits_ = 0;
    std::uint64_t marks_[kWords] = {};
};

class Outliner {
  public:
    Outliner(std::string_view text, std::span<const std::string_view> keys, std::size_t window,
             const std::string& name)
        : text_(text), keys_(keys), window_(window), name_(name), brackets_(text, name), out_(keys.size()) {}

    std::vector<JsonRuns> outline() {
        if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte-order mark
        if (peek() != '{')
            fail(ErrorKind::data, "{}: it is not a JSON object, so it has no COCO annotations", name_);
        ++at_;
        if (peek() != '}')
            for (;; ++at_) {
                member();
                const char letter = peek();
                if (letter == '}') break;
                if (letter != ',') unexpected("',' or '}'");
            }
        ++at_;
        if (skip_space() != text_.size()) unexpected("the end of the file");
        return std::move(out_);
    }

  private:
    std::size_t skip_space() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
            ++at_;
        return at_;
    }

    /// The next character that is not a space; 0 at the end.
    char peek() { return skip_space() < text_.size() ? text_[at_] : '\0'; }

    [[noreturn]] void unexpected(const char* wanted) {
        if (at_ >= text_.size()) cut_short();
        fail(ErrorKind::data, "{}: expected {} at byte {} of the JSON", name_, wanted, at_);
    }
    [[noreturn]] void cut_short() {
        fail(ErrorKind::data, "{}: the JSON ends early at byte {}; the file is truncated", name_,
             text_.size());
    }

    void member() {
        if (peek() != '"') unexpected("a key");
        const std::size_t key_begin = at_ + 1;
        at_ = brackets_.string_from(at_);
        const std::string_view key = text_.substr(key_begin, at_ - 1 - key_begin);
        if (peek() != ':') unexpected("':'");
        ++at_;
        const char letter = peek();
        for (std::size_t k = 0; k < keys_.size(); ++k) {
            if (keys_[k] != key) continue;
            if (out_[k].found) fail(ErrorKind::data, "{}: \"{}\" occurs twice in the JSON", name_, key);
            if (letter != '[') fail(ErrorKind::data, "{}: \"{}\" is not a JSON array", name_, key);
            out_[k].found = true;
            array(out_[k].runs);
            return;
        }
        if (letter == '{' || letter == '[') {
            brackets_.seek(at_);
            at_ = close_of_next() + 1;
        } else if (letter == '"') {
            at_ = brackets_.string_from(at_);
        } else {
            const std::size_t begin = at_;
            while (at_ < text_.size() && std::strchr(",}]{[\" \t\r\n", text_[at_]) == nullptr) ++at_;
            if (at_ == begin) unexpected("a value");
        }
    }

    /// The end of the object or array that opens at the next bracket.
    std::size_t close_of_next() {
        std::size_t depth = 0;
        for (;;) {
            const std::size_t place = brackets_.next();
            if (place == text_.size()) cut_short();
            if (text_[place] == '{' || text_[place] == '[') {
                if (++depth > kJsonDepth)
                    fail(ErrorKind::data, "{}: the JSON nests deeper than {} at byte {}", name_, kJsonDepth,
                         place);
            } else if (--depth == 0) {
                return place;
            }
        }
    }

    /// Divides the array that opens at at_ into runs; at_ is then after the array.
    void array(std::vector<TextRange>& runs) {
        ++at_;
        if (peek() == ']') {
            ++at_;
            return;
        }
        brackets_.seek(at_);
        std::size_t begin = at_;
        for (;;) {
            if (peek() != '{') unexpected("'{', an object of the array");
            const std::size_t opened = at_;
            at_ = close_of_next() + 1;
            if (at_ - opened > kJsonElement)
                fail(ErrorKind::data, "{}: the object at byte {} is larger than {} bytes", name_, opened,
                     kJsonElement);
            const std::size_t end = at_;
            const char letter = peek();
            if (letter != ',' && letter != ']') unexpected("',' or ']'");
            ++at_;
            if (letter == ']' || end - begin >= window_) {
                runs.push_back({begin, end});
                skip_space();
                begin = at_;
            }
            if (letter == ']') return;
        }
    }

    std::string_view text_;
    std::span<const std::string_view> keys_;
    std::size_t window_;
    const std::string& name_;
    Brackets brackets_;
    std::size_t at_ = 0;
    std::vector<JsonRuns> out_;
};
}  // namespace

std::vector<JsonRuns> outline_json(std::string_view text, std::span<const std::string_view> keys,
                                   std::size_t window, const std::string& name) {
    return Outliner(text, keys, window, name).outline();
}

}  // namespace kandinsky
#endif
