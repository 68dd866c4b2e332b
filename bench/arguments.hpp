#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <kandinsky/error.hpp>
#include <map>
#include <string>
#include <vector>

/// The words of a tool's command line: options with a value, switches without one, and the rest.
class Arguments {
  public:
    Arguments(int argc, char** argv, const std::vector<std::string>& switches = {}) {
        for (int i = 1; i < argc; ++i) {
            const std::string word = argv[i];
            if (!word.starts_with("--"))
                rest_.push_back(word);
            else if (std::find(switches.begin(), switches.end(), word) != switches.end())
                given_[word] = "";
            else if (i + 1 < argc)
                given_[word] = argv[++i];
            else
                throw kandinsky::Error(kandinsky::ErrorKind::usage, fmt::format("{} needs a value", word));
        }
    }

    /// Stores the value of an option in `to` if the option was given, and returns whether it was.
    bool take(const std::string& option, std::string& to) {
        const auto found = given_.find(option);
        if (found == given_.end()) return false;
        to = found->second;
        given_.erase(found);
        return true;
    }
    bool take(const std::string& option) {
        std::string nothing;
        return take(option, nothing);
    }
    void take(const std::string& option, std::size_t& to) {
        if (std::string text; take(option, text)) to = std::stoul(text);
    }
    void take(const std::string& option, double& to) {
        if (std::string text; take(option, text)) to = std::stod(text);
    }
    /// Numbers separated by commas.
    void take(const std::string& option, std::vector<double>& to) {
        std::string text;
        if (!take(option, text)) return;
        to.clear();
        text += ',';
        for (std::size_t at = 0; at < text.size(); at = text.find(',', at) + 1)
            to.push_back(std::stod(text.substr(at)));
    }

    /// The words that are not options, after all options were read. Throws a usage error unless there are
    /// `count` of them.
    [[nodiscard]] const std::vector<std::string>& rest(std::size_t count, const std::string& usage) const {
        if (!given_.empty())
            throw kandinsky::Error(kandinsky::ErrorKind::usage,
                                   fmt::format("{} is unknown; usage: {}", given_.begin()->first, usage));
        if (rest_.size() != count) throw kandinsky::Error(kandinsky::ErrorKind::usage, "usage: " + usage);
        return rest_;
    }

  private:
    std::map<std::string, std::string> given_;
    std::vector<std::string> rest_;
};
