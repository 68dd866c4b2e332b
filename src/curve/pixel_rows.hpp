#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/score.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "score/narrow_scores.hpp"

namespace kandinsky {

/// The scores of a stretch of pixels, a row for each pixel with one place for each image (and class, where
/// classes overlap): whose score it is follows from its place, so nothing but the score and its stratum is
/// kept. Words order as (stratum, score); places without a score come last.
class PixelRows {
  public:
    PixelRows(const Dataset& data, Condition condition, const ScoreOptions& options);

    [[nodiscard]] std::size_t places() const { return images_ * slots_; }  ///< in a row
    [[nodiscard]] std::size_t row_bytes() const { return places() * word_bytes_; }
    /// Whether each image has at most one score a pixel.
    [[nodiscard]] bool single() const { return slots_ == 1; }

    /// Fills the rows of a range, all threads at work. Reads whole stretches of images and lets them go.
    void gather(PixelRange range, Progress& progress);

    /// Scratch of one thread that reads rows.
    struct Scratch {
        std::vector<std::uint16_t> half, half_other;
        std::vector<std::uint32_t> keys;
        std::vector<std::uint64_t> pairs;
        std::vector<std::size_t> first;  ///< [stratum] of keys and pairs, and the end
    };
    /// Sorts the row of the i-th pixel of the range: afterwards score() gives the k-th of a stratum.
    void sort(std::size_t i, Scratch& scratch) const;
    [[nodiscard]] float score(const Scratch& scratch, std::size_t stratum, std::size_t k) const {
        return score_at(stratum, key(scratch, stratum, k));
    }
    /// The same as the key it is sorted by: a number of key_bits() bits that ascends with the score.
    [[nodiscard]] std::uint32_t key(const Scratch& scratch, std::size_t stratum, std::size_t k) const;
    [[nodiscard]] unsigned key_bits() const;
    [[nodiscard]] float score_at(std::size_t stratum, std::uint32_t key) const;
    [[nodiscard]] static std::size_t count(const Scratch& scratch, std::size_t stratum) {
        return scratch.first[stratum + 1] - scratch.first[stratum];
    }
    /// The scores of the i-th pixel with their groups, as pairs in no order; scratch.first tells the strata.
    /// `keys`: of key_bits() bits instead of key_of() the score.
    enum class PairsOf { scores, keys };
    void pair_up(std::size_t i, Scratch& scratch, PairsOf keys = PairsOf::scores) const;

  private:
    template <class Word>
    void gather_words(PixelRange range, Progress& progress);
    template <class Word>
    [[nodiscard]] const Word* row(std::size_t i) const {
        return reinterpret_cast<const Word*>(words_.get()) + i * places();
    }
    /// Calls visit(stratum, key, place) for the places of a row that have a score.
    template <class Visit>
    void for_each(std::size_t i, Visit&& visit) const;

    const Dataset& data_;
    Condition condition_;
    ScoreOptions options_;
    std::optional<NarrowScores> narrow_;
    std::size_t images_, classes_, strata_, slots_, word_bytes_;
    std::size_t capacity_ = 0;
    std::unique_ptr<std::byte[]> words_;
};

}  // namespace kandinsky
