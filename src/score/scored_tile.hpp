#pragma once

#include <cstdint>
#include <kandinsky/dataset.hpp>
#include <kandinsky/score.hpp>
#include <vector>

#include "core/data/dataset_access.hpp"
#include "score/scoring.hpp"
#include "score/surroundings.hpp"

namespace kandinsky {

/// A run of pixels of one image with everything that later steps need. Buffers are allocated once for the
/// longest run; load() then allocates nothing, except distances for the score near that are not cached.
class ScoredTile {
  public:
    ScoredTile(const Dataset& data, const ScoreOptions& options, std::size_t largest)
        : data_(data),
          options_(options),
          near_(data.grid()),
          probs_(data.classes() * largest),
          scores_(data.classes() * largest),
          member_(data.classes() * largest),
          valid_(largest) {}

    void load(std::size_t image, PixelRange range) {
        size_ = range.size();
        shown_ = nullptr;
        data_.read_probs(image, range, probs_);
        data_.read_truth(image, range, member_, valid_);
        if (options_.kind == ScoreKind::near) {
            const ImageStore::Numbers distances = distances_of(data_, image);
            for (std::size_t c = 0; c < data_.classes(); ++c)
                near_.score(range, probs_.data() + c * size_, distances->data() + c * near_.cells().pixels(),
                            scores_.data() + c * size_);
            return;
        }
        kandinsky::score(
            options_, data_.classes(), size_, probs_.data(), scores_.data(),
            {.image = options_.randomized ? content_key(data_, image) : 0, .first_pixel = range.begin});
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const float* probs(std::size_t c) const { return probs_.data() + c * size_; }
    [[nodiscard]] const float* scores(std::size_t c) const {
        return (shown_ != nullptr ? shown_ : scores_.data()) + c * size_;
    }
    /// Replaces scores() by `scores` [class][pixel of the run] until the next load(); null undoes this.
    void show(const float* scores) { shown_ = scores; }
    [[nodiscard]] const std::uint8_t* member(std::size_t c) const { return member_.data() + c * size_; }
    [[nodiscard]] const std::uint8_t* valid() const { return valid_.data(); }

  private:
    const Dataset& data_;
    ScoreOptions options_;
    Surroundings near_;
    std::size_t size_ = 0;
    std::vector<float> probs_, scores_;
    const float* shown_ = nullptr;
    std::vector<std::uint8_t> member_, valid_;
};

}  // namespace kandinsky
