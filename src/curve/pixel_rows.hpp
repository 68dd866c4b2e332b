#pragma once

#include <kandinsky/dataset.hpp>
#include <kandinsky/progress.hpp>
#include <kandinsky/score.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "curve/column_sort.hpp"
#include "score/census.hpp"
#include "score/narrow_scores.hpp"
#include "score/scoring.hpp"

namespace kandinsky {

/// The scores of a range of pixels, with a place for each image (and for each class, if classes overlap). The
/// place determines the image, so only the score and its stratum are stored, in one word. Words are
/// ordered by stratum, then by score; a place without a score has the largest word. Neighbouring pixels form
/// a tile: the columns of a matrix with one line for each place.
class PixelRows final : public CensusGuest {
  public:
    PixelRows(const Dataset& data, Condition condition, const ScoreOptions& options);

    [[nodiscard]] std::size_t places() const { return images_ * slots_; }         ///< of a pixel
    [[nodiscard]] std::size_t lanes() const { return kLineBytes / word_bytes_; }  ///< pixels in a tile
    [[nodiscard]] std::size_t tile_bytes() const { return places() * kLineBytes; }
    /// Whether each image has at most one score per pixel.
    [[nodiscard]] bool single() const { return slots_ == 1; }

    /// Fills the tiles of a range with all threads. Reads blocks of images and releases their pages.
    void gather(PixelRange range, Progress& progress);
    /// The same for all pixels during a census, which calls this object (CensusGuest). Possible if scores
    /// have few distinct values and all of them fit into `budget` bytes: then allocates the memory and
    /// returns true, otherwise returns false.
    [[nodiscard]] bool visit_census(std::size_t budget);
    void see(PixelRange range, std::size_t first, std::size_t last, std::size_t image,
             const std::uint8_t* member) override;

    /// Scratch of one thread that reads scores.
    struct Scratch {
        std::vector<std::uint32_t> keys;
        std::vector<std::uint64_t> pairs;
        std::vector<std::size_t> first;  ///< [stratum], and the end
        const std::byte* column = nullptr;
    };
    /// Sorts the words of each pixel of a tile; words of 8 bytes are sorted by open(). Different threads may
    /// sort different tiles.
    void sort_tile(std::size_t tile);
    /// Opens a pixel of a sorted tile. score() then returns the k-th score of a stratum.
    void open(std::size_t tile, std::size_t lane, Scratch& scratch) const;
    [[nodiscard]] float score(const Scratch& scratch, std::size_t stratum, std::size_t k) const {
        return score_at(stratum, key(scratch, stratum, k));
    }
    /// The key of that score: a number of key_bits() bits that ascends with the score.
    [[nodiscard]] std::uint32_t key(const Scratch& scratch, std::size_t stratum, std::size_t k) const;
    [[nodiscard]] unsigned key_bits() const { return code_bits_; }
    [[nodiscard]] float score_at(std::size_t stratum, std::uint32_t key) const;
    [[nodiscard]] static std::size_t count(const Scratch& scratch, std::size_t stratum) {
        return scratch.first[stratum + 1] - scratch.first[stratum];
    }
    /// out[i] = the ranks[i]-th score of a stratum, +inf for kNoRank.
    void read(const Scratch& scratch, std::size_t stratum, const std::uint32_t* ranks, std::size_t n,
              float* out) const;
    /// The scores of a pixel of an unsorted tile with their groups, as unordered pairs; scratch.first has the
    /// beginning of each stratum. PairsOf::keys: pairs have key() in place of key_of(score).
    enum class PairsOf { scores, keys };
    void pair_up(std::size_t tile, std::size_t lane, Scratch& scratch, PairsOf keys = PairsOf::scores) const;

  private:
    void make_room(std::size_t pixels);
    template <class Word>
    void gather_words(PixelRange range, Progress& progress);
    template <class Word>
    void see_words(PixelRange range, std::size_t first, std::size_t last, std::size_t image,
                   const std::uint8_t* member);
    /// Writes the words of one image to `line`, for scores with few values. A pixel without a score keeps its
    /// word. If classes overlap, there is a line for each class, `stride` words apart.
    template <class Word>
    void form(std::size_t image, PixelRange part, const std::uint8_t* member, Word* line,
              std::size_t stride) const;
    /// Copies the lines of the images [first, last) to their places in the tiles, starting at pixel `begin`.
    template <class Word>
    void copy_to_tiles(const Word* formed, std::size_t stride, std::size_t first, std::size_t last,
                       std::size_t begin, std::size_t pixels) const;
    [[nodiscard]] std::byte* tile_at(std::size_t tile) const { return words_.get() + tile * tile_bytes(); }
    template <class Word>
    [[nodiscard]] const Word* column(std::size_t tile, std::size_t lane) const {
        return reinterpret_cast<const Word*>(tile_at(tile)) + lane;
    }
    /// Calls visit(stratum, key, place) for the places of a pixel that have a score.
    template <class Visit>
    void for_each(std::size_t tile, std::size_t lane, Visit&& visit) const;
    template <class Word>
    void find_strata(Scratch& scratch) const;

    struct Free {
        void operator()(std::byte* memory) const;
    };

    const Dataset& data_;
    Condition condition_;
    ScoreOptions options_;
    std::optional<NarrowScores> narrow_;
    std::size_t images_, classes_, strata_, slots_, word_bytes_;
    unsigned code_bits_;  ///< low bits of a word, which hold the key; the stratum is above them
    std::size_t capacity_ = 0;
    std::unique_ptr<std::byte[], Free> words_;
};

}  // namespace kandinsky
