#pragma once

#include <algorithm>
#include <kandinsky/error.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/team/checkpoint.hpp"

namespace kandinsky::test {

/// Keeps the state of every step in memory. A save is always due, and the run ends after a given number of
/// saves.
class MemoryCheckpoint final : public Checkpoint {
  public:
    struct Saved {
        std::string name;
        std::size_t done = 0;
    };

    explicit MemoryCheckpoint(const MemoryCheckpoint* before = nullptr,
                              std::size_t most = std::numeric_limits<std::size_t>::max())
        : most_(most) {
        if (before != nullptr) kept_ = before->kept_;
    }
    std::optional<std::size_t> load(std::size_t step, std::string_view name, const State& state) override {
        const auto found = kept_.find({step, std::string(name)});
        if (found == kept_.end()) return {};
        const std::byte* from = found->second.second.data();
        for (const auto part : state) {
            std::copy_n(from, part.size(), part.data());
            from += part.size();
        }
        return found->second.first;
    }
    void save(std::size_t step, std::string_view name, std::size_t done, const State& state) override {
        std::vector<std::byte> bytes;
        for (const auto part : state) bytes.insert(bytes.end(), part.begin(), part.end());
        kept_[{step, std::string(name)}] = {done, bytes};
        saved_.push_back({std::string(name), done});
        if (saved_.size() == most_) throw Interrupted();
    }
    std::optional<std::vector<std::byte>> recall(std::size_t step, std::string_view name) override {
        const auto found = kept_.find({step, std::string(name)});
        if (found == kept_.end()) return {};
        return found->second.second;
    }
    void keep(std::size_t step, std::string_view name, std::span<const std::byte> bytes) override {
        std::vector<std::byte> copy(bytes.begin(), bytes.end());
        save(step, name, 0, {std::span(copy)});
    }
    [[nodiscard]] bool due() const override { return true; }
    [[nodiscard]] double interval() const override { return 0; }
    /// What this run saved, in its order.
    [[nodiscard]] const std::vector<Saved>& saved() const { return saved_; }

  private:
    std::map<std::pair<std::size_t, std::string>, std::pair<std::size_t, std::vector<std::byte>>> kept_;
    std::vector<Saved> saved_;
    std::size_t most_;
};

}  // namespace kandinsky::test
