#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/score.hpp>
#include <vector>

namespace kandinsky {

/// A stretch of pixels of one image with everything later steps look at. Buffers are allocated once for the
/// largest stretch; load() then allocates nothing.
class ScoredTile {
  public:
    /// Images are let go in blocks of so many: a walk that loads a block's images for one stretch after the
    /// other reads each page once.
    static constexpr std::size_t kBlock = 64;

    /// Who lets go of images: load() and the destructor, or the caller.
    enum class Pages { release, keep };

    ScoredTile(const Dataset& data, const ScoreOptions& options, std::size_t largest,
               Pages pages = Pages::release)
        : data_(data),
          options_(options),
          pages_(pages),
          probs_(data.classes() * largest),
          scores_(data.classes() * largest),
          member_(data.classes() * largest),
          valid_(largest) {}

    ScoredTile(const ScoredTile&) = delete;
    ScoredTile& operator=(const ScoredTile&) = delete;
    ~ScoredTile() { let_go(); }

    void load(std::size_t image, PixelRange range) {
        // What lies behind is let go, so that walks over files larger than memory stay small.
        if (image / kBlock != block_) let_go();
        block_ = image / kBlock;
        size_ = range.size();
        data_.read_probs(image, range, probs_.data());
        data_.read_truth(image, range, member_.data(), valid_.data());
        kandinsky::score(
            options_, data_.classes(), size_, probs_.data(), scores_.data(),
            {.image = options_.randomized ? data_.content_key(image) : 0, .first_pixel = range.begin});
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const float* probs(std::size_t c) const { return probs_.data() + c * size_; }
    [[nodiscard]] const float* scores(std::size_t c) const { return scores_.data() + c * size_; }
    [[nodiscard]] const std::uint8_t* member(std::size_t c) const { return member_.data() + c * size_; }
    [[nodiscard]] const std::uint8_t* valid() const { return valid_.data(); }

  private:
    void let_go() const {
        if (pages_ == Pages::release) data_.release(block_ * kBlock, (block_ + 1) * kBlock);
    }
    const Dataset& data_;
    ScoreOptions options_;
    Pages pages_;
    std::size_t block_ = 0;
    std::size_t size_ = 0;
    std::vector<float> probs_, scores_;
    std::vector<std::uint8_t> member_, valid_;
};

}  // namespace kandinsky
