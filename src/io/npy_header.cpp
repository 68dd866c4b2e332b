#include "io/npy_header.hpp"

#include <limits>

#include "core/fail.hpp"
#include "io/printable.hpp"

namespace kandinsky {

namespace {

constexpr std::size_t kMostAxes = 64;  // numpy 2's own limit

/// A cursor over the dict literal; every step either consumes what it names or refuses the file.
class Scanner {
  public:
    Scanner(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    [[noreturn]] void refuse(std::string_view reason) const {
        fail(ErrorKind::data,
             "cannot read {}: the npy header is malformed at character {}: {}; save the array again with "
             "numpy.save",
             name_, at_, reason);
    }

    /// The next character that is no white space; 0 at the end.
    char peek() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    [[nodiscard]] bool finished() {
        peek();
        return at_ == text_.size();
    }

    bool accept(char wanted) {
        if (peek() != wanted || at_ == text_.size()) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!accept(wanted)) refuse(fmt::format("expected '{}'", wanted));
    }

    std::string string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') refuse("expected a quoted string");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) refuse("a string does not end");
        const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
        if (content.find_first_of("\\\n\r") != std::string_view::npos) refuse("a string with escapes");
        at_ = end + 1;
        return std::string(content);
    }

    bool boolean() {
        peek();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return value;
        }
        refuse("expected True or False");
    }

    std::size_t integer() {
        const char first = peek();
        if (first == '-') refuse("a negative extent");
        if (first < '0' || first > '9') refuse("expected a whole number");
        std::size_t value = 0;
        const std::size_t begin = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            const auto digit = static_cast<std::size_t>(text_[at_] - '0');
            if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10)
                refuse("an extent past 64 bits");
            value = 10 * value + digit;
        }
        if (first == '0' && at_ - begin > 1) refuse("a number with a leading zero");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote longs so
        return value;
    }

    /// A tuple: "()", "(3,)", "(3, 4)"; "(3)" is a number in Python.
    std::vector<std::size_t> shape() {
        std::vector<std::size_t> extents;
        expect('(');
        bool comma = true;
        while (!accept(')')) {
            if (!comma) refuse("expected ',' or ')'");
            extents.push_back(integer());
            if (extents.size() > kMostAxes) refuse(fmt::format("more than {} axes", kMostAxes));
            comma = accept(',');
        }
        if (extents.size() == 1 && !comma) refuse("the shape is not a tuple");
        return extents;
    }

  private:
    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

std::string descr_of(Scanner& scanner, const std::string& name) {
    const char first = scanner.peek();
    if (first == '[' || first == '(')
        fail(ErrorKind::data,
             "cannot read {}: structured dtypes are refused; save each field as an array of plain numbers",
             name);
    return scanner.string();
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
    Scanner scanner(text, name);
    NpyHeader header;
    bool seen[3] = {};
    const auto first_time = [&](bool& flag, std::string_view key) {
        if (flag) scanner.refuse(fmt::format("the key '{}' comes twice", key));
        flag = true;
    };
    scanner.expect('{');
    bool comma = true;
    while (!scanner.accept('}')) {
        if (!comma) scanner.refuse("expected ',' or '}'");
        const std::string key = scanner.string();
        scanner.expect(':');
        if (key == "descr") {
            first_time(seen[0], key);
            header.descr = descr_of(scanner, name);
        } else if (key == "fortran_order") {
            first_time(seen[1], key);
            header.fortran_order = scanner.boolean();
        } else if (key == "shape") {
            first_time(seen[2], key);
            header.shape = scanner.shape();
        } else {
            scanner.refuse(fmt::format("unknown key '{}'", printable(key, 40)));
        }
        comma = scanner.accept(',');
    }
    if (!scanner.finished()) scanner.refuse("text after the closing '}'");
    if (!seen[0] || !seen[1] || !seen[2]) scanner.refuse("it needs the keys descr, fortran_order and shape");
    return header;
}

}  // namespace kandinsky
