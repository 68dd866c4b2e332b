#include "curve/pixel_rows.hpp"

#include <algorithm>
#include <kandinsky/error.hpp>

#include "core/parallel.hpp"
#include "curve/score_key.hpp"
#include "score/code_kernels.hpp"
#include "score/scored_tile.hpp"

namespace kandinsky {

namespace {
constexpr unsigned kCodeBits = NarrowScores::kBits;
constexpr std::uint32_t kCodeMask = NarrowScores::kCodes - 1;
constexpr std::size_t kStretch =
    1024;                           // pixels formed at a time, so that a block of images stays in the cache
constexpr std::size_t kBlock = 32;  // images turned into columns at a time: whole cache lines of words

/// The word of a place without a score.
template <class Word>
Word nothing(std::size_t strata) {
    if constexpr (sizeof(Word) == 8)
        return static_cast<Word>(strata) << 32;
    else
        return static_cast<Word>(strata << kCodeBits);
}
}  // namespace

PixelRows::PixelRows(const Dataset& data, Condition condition, const ScoreOptions& options)
    : data_(data),
      condition_(condition),
      options_(options),
      narrow_(NarrowScores::of(data, options, condition)),
      images_(data.images()),
      classes_(data.classes()),
      strata_(condition == Condition::by_class ? data.classes() : 1),
      slots_(data.overlapping() ? data.classes() : 1) {
    word_bytes_ = !narrow_ ? 8 : strata_ < 4 ? 2 : 4;
}

template <class Word>
void PixelRows::gather_words(PixelRange range, Progress& progress) {
    auto* const words = reinterpret_cast<Word*>(words_.get());
    const std::size_t blocks = (images_ + kBlock - 1) / kBlock, row_length = places();
    parallel_for(blocks, progress, "pixel curves", [&](std::size_t number) {
        const std::size_t first = number * kBlock, last = std::min(images_, first + kBlock);
        const std::size_t columns = (last - first) * slots_;
        std::vector<Word> formed(columns * kStretch);
        std::vector<std::uint16_t> codes(kStretch);
        std::vector<std::uint8_t> member(classes_ * kStretch), valid(kStretch);
        std::optional<ScoredTile> tile;
        if (!narrow_) tile.emplace(data_, options_, kStretch);
        for (std::size_t begin = range.begin; begin < range.end; begin += kStretch) {
            if (progress.cancelled()) throw Interrupted();
            const PixelRange part{begin, std::min(range.end, begin + kStretch)};
            const std::size_t n = part.size();
            std::fill(formed.begin(), formed.end(), nothing<Word>(strata_));
            for (std::size_t image = first; image < last; ++image) {
                Word* const line = formed.data() + (image - first) * slots_ * n;
                if (tile)
                    tile->load(image, part);
                else
                    data_.read_truth(image, part, member.data(), valid.data());
                for (std::size_t c = 0; c < classes_; ++c) {
                    Word* const to = line + (slots_ > 1 ? c * n : 0);
                    const std::size_t stratum = condition_ == Condition::by_class ? c : 0;
                    const std::uint8_t* const has = tile ? tile->member(c) : member.data() + c * n;
                    if constexpr (sizeof(Word) == 8) {
                        const float* const scores = tile->scores(c);
                        for (std::size_t i = 0; i < n; ++i)
                            if (has[i] != 0) to[i] = static_cast<Word>(stratum) << 32 | key_of(scores[i]);
                    } else {
                        narrow_->read(image, part, c, codes.data());
                        const auto base = static_cast<Word>(stratum << kCodeBits);
                        if constexpr (sizeof(Word) == 2)
                            merge_codes(codes.data(), has, n, base, to);
                        else
                            for (std::size_t i = 0; i < n; ++i) to[i] = has[i] != 0 ? base + codes[i] : to[i];
                    }
                }
            }
            Word* const to = words + (begin - range.begin) * row_length + first * slots_;
            if constexpr (sizeof(Word) == 2)
                transpose_words(formed.data(), columns, n, to, row_length);
            else
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t k = 0; k < columns; ++k) to[i * row_length + k] = formed[k * n + i];
        }
        data_.release(first, last);
    });
}

void PixelRows::gather(PixelRange range, Progress& progress) {
    if (range.size() > capacity_) {
        words_.reset();
        // Not zeroed: every place is written.
        words_ = std::make_unique_for_overwrite<std::byte[]>(range.size() * row_bytes());
        capacity_ = range.size();
    }
    if (word_bytes_ == 2)
        gather_words<std::uint16_t>(range, progress);
    else if (word_bytes_ == 4)
        gather_words<std::uint32_t>(range, progress);
    else
        gather_words<std::uint64_t>(range, progress);
}

template <class Visit>
void PixelRows::for_each(std::size_t i, Visit&& visit) const {
    const auto narrow_words = [&](const auto* words) {
        for (std::size_t k = 0; k < places(); ++k) {
            const std::uint32_t word = words[k], stratum = word >> kCodeBits;
            if (stratum < strata_) visit(stratum, word & kCodeMask, k);
        }
    };
    if (word_bytes_ == 2) return narrow_words(row<std::uint16_t>(i));
    if (word_bytes_ == 4) return narrow_words(row<std::uint32_t>(i));
    const std::uint64_t* const words = row<std::uint64_t>(i);
    for (std::size_t k = 0; k < places(); ++k)
        if (const auto stratum = static_cast<std::uint32_t>(words[k] >> 32); stratum < strata_)
            visit(stratum, static_cast<std::uint32_t>(words[k]), k);
}

void PixelRows::sort(std::size_t i, Scratch& scratch) const {
    scratch.first.assign(strata_ + 1, 0);
    if (word_bytes_ == 2) {
        const std::uint16_t* const words = row<std::uint16_t>(i);
        scratch.half.assign(words, words + places());
        sort_halves(scratch.half, scratch.half_other);
        for (std::size_t s = 1; s <= strata_; ++s)
            scratch.first[s] = static_cast<std::size_t>(
                std::lower_bound(scratch.half.begin(), scratch.half.end(), s << kCodeBits) -
                scratch.half.begin());
        return;
    }
    if (word_bytes_ == 4) {
        const std::uint32_t* const words = row<std::uint32_t>(i);
        scratch.keys.assign(words, words + places());
        sort_keys(scratch.keys);
        for (std::size_t s = 1; s <= strata_; ++s)
            scratch.first[s] = static_cast<std::size_t>(
                std::lower_bound(scratch.keys.begin(), scratch.keys.end(), s << kCodeBits) -
                scratch.keys.begin());
        return;
    }
    const std::uint64_t* const words = row<std::uint64_t>(i);
    for (std::size_t k = 0; k < places(); ++k)
        if (const std::size_t s = words[k] >> 32; s < strata_) ++scratch.first[s + 1];
    for (std::size_t s = 0; s < strata_; ++s) scratch.first[s + 1] += scratch.first[s];
    scratch.keys.resize(scratch.first[strata_]);
    std::vector<std::size_t> next(scratch.first.begin(), scratch.first.end() - 1);
    for (std::size_t k = 0; k < places(); ++k)
        if (const std::size_t s = words[k] >> 32; s < strata_)
            scratch.keys[next[s]++] = static_cast<std::uint32_t>(words[k]);
    for (std::size_t s = 0; s < strata_; ++s)
        sort_keys(std::span(scratch.keys).subspan(scratch.first[s], count(scratch, s)));
}

std::uint32_t PixelRows::key(const Scratch& scratch, std::size_t stratum, std::size_t k) const {
    const std::size_t at = scratch.first[stratum] + k;
    if (word_bytes_ == 2) return scratch.half[at] & kCodeMask;
    return word_bytes_ == 4 ? scratch.keys[at] & kCodeMask : scratch.keys[at];
}

float PixelRows::score_at(std::size_t stratum, std::uint32_t key) const {
    return narrow_ ? narrow_->score(stratum, key) : score_of(key);
}

unsigned PixelRows::key_bits() const {
    return narrow_ ? kCodeBits : 32;
}

void PixelRows::pair_up(std::size_t i, Scratch& scratch, PairsOf keys) const {
    scratch.first.assign(strata_ + 1, 0);
    for_each(i, [&](std::uint32_t s, std::uint32_t, std::size_t) { ++scratch.first[s + 1]; });
    for (std::size_t s = 0; s < strata_; ++s) scratch.first[s + 1] += scratch.first[s];
    scratch.pairs.resize(scratch.first[strata_]);
    std::vector<std::size_t> next(scratch.first.begin(), scratch.first.end() - 1);
    for_each(i, [&](std::uint32_t s, std::uint32_t key, std::size_t place) {
        const std::uint32_t high = keys == PairsOf::scores && narrow_ ? key_of(narrow_->score(s, key)) : key;
        scratch.pairs[next[s]++] = static_cast<std::uint64_t>(high) << 32 | data_.group_of(place / slots_);
    });
}

}  // namespace kandinsky
