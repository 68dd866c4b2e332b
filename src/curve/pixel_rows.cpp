#include "curve/pixel_rows.hpp"
#include "score/scoring.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <kandinsky/error.hpp>
#include <limits>
#include <new>

#include "core/base/pages.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/kernel/hash.hpp"
#include "curve/build_curve.hpp"
#include "curve/score_key.hpp"
#include "score/code_kernels.hpp"
#include "score/scored_tile.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
// The words of kStretch pixels of kBlock images are formed at a time: so few pixels that the words stay in
// the cache, and so many images that some kilobytes are copied to each tile.
constexpr std::size_t kStretch = 1024;
constexpr std::size_t kBlock = 32;
// A score in [0, 1] has at most this many bits as a float, so the stratum fits above them.
constexpr unsigned kUnitBits = 30;
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
    const bool unit = options.kind == ScoreKind::lac && strata_ < 4;
    word_bytes_ = narrow_ ? (strata_ < 4 ? 2 : 4) : unit ? 4 : 8;
    code_bits_ = narrow_ ? NarrowScores::kBits : unit ? kUnitBits : 32;
}

void PixelRows::Free::operator()(std::byte* memory) const {
    std::free(memory);
}

template <class Word>
void PixelRows::form(std::size_t image, PixelRange part, const std::uint8_t* member, Word* line,
                     std::size_t stride) const {
    const std::size_t n = part.size();
    std::vector<std::uint16_t>& codes = thread_buffer<std::uint16_t, struct FormedCodes>();
    codes.resize(std::max(codes.size(), n));
    for (std::size_t c = 0; c < classes_; ++c) {
        Word* const to = line + (slots_ > 1 ? c * stride : 0);
        const std::size_t stratum = condition_ == Condition::by_class ? c : 0;
        const auto base = static_cast<Word>(static_cast<Word>(stratum) << code_bits_);
        const std::uint8_t* const has = member + c * n;
        narrow_->read(image, part, c, codes.data());
        if constexpr (sizeof(Word) == 2)
            merge_codes(codes.data(), has, n, base, to);
        else
            for (std::size_t i = 0; i < n; ++i) to[i] = has[i] != 0 ? base + codes[i] : to[i];
    }
}

template <class Word>
void PixelRows::copy_to_tiles(const Word* formed, std::size_t stride, std::size_t first, std::size_t last,
                              std::size_t begin, std::size_t pixels) const {
    constexpr std::size_t kLanes = kLineBytes / sizeof(Word);
    for (std::size_t i = 0; i < pixels; i += kLanes)
        copy_lines(formed + i, stride * sizeof(Word), (last - first) * slots_,
                   tile_at((begin + i) / kLanes) + first * slots_ * kLineBytes);
}

template <class Word>
void PixelRows::see_words(PixelRange range, std::size_t first, std::size_t last, std::size_t image,
                          const std::uint8_t* member) {
    constexpr std::size_t kStride = kHashStretch;
    std::vector<Word>& formed = thread_buffer<Word, struct SeenLines>();
    if (image == first)
        formed.assign((last - first) * slots_ * kStride,
                      static_cast<Word>(static_cast<Word>(strata_) << code_bits_));
    form(image, range, member, formed.data() + (image - first) * slots_ * kStride, kStride);
    if (image + 1 == last) copy_to_tiles(formed.data(), kStride, first, last, range.begin, range.size());
}

void PixelRows::see(PixelRange range, std::size_t first, std::size_t last, std::size_t image,
                    const std::uint8_t* member) {
    if (word_bytes_ == 2)
        see_words<std::uint16_t>(range, first, last, image, member);
    else
        see_words<std::uint32_t>(range, first, last, image, member);
}

bool PixelRows::visit_census(std::size_t budget) {
    const std::size_t pixels = data_.grid().pixels();
    if (!narrow_ || (pixels + lanes() - 1) / lanes() > budget / tile_bytes()) return false;
    make_room(pixels);
    return true;
}

template <class Word>
void PixelRows::gather_words(PixelRange range, Progress& progress) {
    const auto nothing = static_cast<Word>(static_cast<Word>(strata_) << code_bits_);
    const Visit visit{.data = data_, .progress = progress, .stage = "pixel curves"};
    visit_blocks(visit, {.images = kBlock}, [&](std::size_t, std::size_t first, std::size_t last) {
        std::vector<Word> formed((last - first) * slots_ * kStretch);
        std::vector<std::uint8_t> member(classes_ * kStretch), valid(kStretch);
        std::optional<ScoredTile> tile;
        if (!narrow_) tile.emplace(data_, options_, kStretch);
        for (std::size_t begin = range.begin; begin < range.end; begin += kStretch) {
            visit.stop_if_cancelled();
            const PixelRange part{begin, std::min(range.end, begin + kStretch)};
            const std::size_t n = part.size();
            std::fill(formed.begin(), formed.end(), nothing);
            for (std::size_t image = first; image < last; ++image) {
                Word* const line = formed.data() + (image - first) * slots_ * kStretch;
                if (!tile) {
                    data_.read_truth(image, part, member, valid);
                    form(image, part, member.data(), line, kStretch);
                    continue;
                }
                tile->load(image, part);
                for (std::size_t c = 0; c < classes_; ++c) {
                    Word* const to = line + (slots_ > 1 ? c * kStretch : 0);
                    const std::size_t stratum = condition_ == Condition::by_class ? c : 0;
                    const auto base = static_cast<Word>(static_cast<Word>(stratum) << code_bits_);
                    const std::uint8_t* const has = tile->member(c);
                    const float* const scores = tile->scores(c);
                    if constexpr (sizeof(Word) == 8)
                        for (std::size_t i = 0; i < n; ++i)
                            to[i] = has[i] != 0 ? base | key_of(scores[i]) : to[i];
                    else if constexpr (sizeof(Word) == 4)
                        for (std::size_t i = 0; i < n; ++i)
                            to[i] = has[i] != 0 ? base | std::bit_cast<std::uint32_t>(scores[i]) : to[i];
                }
            }
            copy_to_tiles(formed.data(), kStretch, first, last, begin - range.begin, n);
        }
    });
}

void PixelRows::make_room(std::size_t pixels) {
    const std::size_t tiles = (pixels + lanes() - 1) / lanes();
    if (tiles <= capacity_) return;
    words_.reset();
    const std::size_t bytes = tiles * tile_bytes();
    // Not zeroed: every place is written.
    words_.reset(static_cast<std::byte*>(std::aligned_alloc(kLineBytes, bytes)));
    if (!words_) throw std::bad_alloc();
    prefer_large_pages(words_.get(), bytes);
    capacity_ = tiles;
}

void PixelRows::gather(PixelRange range, Progress& progress) {
    make_room(range.size());
    if (word_bytes_ == 2)
        gather_words<std::uint16_t>(range, progress);
    else if (word_bytes_ == 4)
        gather_words<std::uint32_t>(range, progress);
    else
        gather_words<std::uint64_t>(range, progress);
}

float PixelRows::score_at(std::size_t stratum, std::uint32_t key) const {
    if (narrow_) return narrow_->score(stratum, key);
    return word_bytes_ == 8 ? score_of(key) : std::bit_cast<float>(key);
}

template <class Visit>
void PixelRows::for_each(std::size_t tile, std::size_t lane, Visit&& visit) const {
    const auto words = [&](const auto* column) {
        const std::uint32_t mask = (std::uint32_t{1} << code_bits_) - 1;
        for (std::size_t k = 0; k < places(); ++k) {
            const std::uint32_t word = column[k * lanes()], stratum = word >> code_bits_;
            if (stratum < strata_) visit(stratum, word & mask, k);
        }
    };
    if (word_bytes_ == 2) return words(column<std::uint16_t>(tile, lane));
    if (word_bytes_ == 4) return words(column<std::uint32_t>(tile, lane));
    const std::uint64_t* const own = column<std::uint64_t>(tile, lane);
    for (std::size_t k = 0; k < places(); ++k)
        if (const auto stratum = static_cast<std::uint32_t>(own[k * lanes()] >> 32); stratum < strata_)
            visit(stratum, static_cast<std::uint32_t>(own[k * lanes()]), k);
}

void PixelRows::sort_tile(std::size_t tile) {
    if (word_bytes_ == 2)
        sort_columns(reinterpret_cast<std::uint16_t*>(tile_at(tile)), places());
    else if (word_bytes_ == 4)
        sort_columns(reinterpret_cast<std::uint32_t*>(tile_at(tile)), places());
}

template <class Word>
void PixelRows::find_strata(Scratch& scratch) const {
    const auto* const column = reinterpret_cast<const Word*>(scratch.column);
    for (std::size_t s = 1; s <= strata_; ++s) {
        const auto least = static_cast<Word>(static_cast<Word>(s) << code_bits_);
        std::size_t low = scratch.first[s - 1], high = places();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (column[middle * (kLineBytes / sizeof(Word))] < least)
                low = middle + 1;
            else
                high = middle;
        }
        scratch.first[s] = low;
    }
}

void PixelRows::open(std::size_t tile, std::size_t lane, Scratch& scratch) const {
    scratch.first.assign(strata_ + 1, 0);
    scratch.column = tile_at(tile) + lane * word_bytes_;
    if (word_bytes_ == 2) return find_strata<std::uint16_t>(scratch);
    if (word_bytes_ == 4) return find_strata<std::uint32_t>(scratch);
    for_each(tile, lane, [&](std::uint32_t s, std::uint32_t, std::size_t) { ++scratch.first[s + 1]; });
    for (std::size_t s = 0; s < strata_; ++s) scratch.first[s + 1] += scratch.first[s];
    scratch.keys.resize(scratch.first[strata_]);
    std::vector<std::size_t> next(scratch.first.begin(), scratch.first.end() - 1);
    for_each(tile, lane,
             [&](std::uint32_t s, std::uint32_t key, std::size_t) { scratch.keys[next[s]++] = key; });
    for (std::size_t s = 0; s < strata_; ++s)
        sort_keys(std::span(scratch.keys).subspan(scratch.first[s], count(scratch, s)));
}

std::uint32_t PixelRows::key(const Scratch& scratch, std::size_t stratum, std::size_t k) const {
    const std::size_t at = scratch.first[stratum] + k;
    if (word_bytes_ == 8) return scratch.keys[at];
    const std::byte* const word = scratch.column + at * kLineBytes;
    const std::uint32_t mask = (std::uint32_t{1} << code_bits_) - 1;
    return mask & (word_bytes_ == 2 ? *reinterpret_cast<const std::uint16_t*>(word)
                                    : *reinterpret_cast<const std::uint32_t*>(word));
}

void PixelRows::read(const Scratch& scratch, std::size_t stratum, const std::uint32_t* ranks, std::size_t n,
                     float* out) const {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (word_bytes_ == 2) {
        // The common case, without the branches of score().
        const auto* const column =
            reinterpret_cast<const std::uint16_t*>(scratch.column + scratch.first[stratum] * kLineBytes);
        const float* const table = narrow_->table(stratum);
        for (std::size_t i = 0; i < n; ++i)
            out[i] = ranks[i] == kNoRank
                         ? kInf
                         : table[column[ranks[i] * (kLineBytes / 2)] & (NarrowScores::kCodes - 1)];
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        out[i] = ranks[i] == kNoRank ? kInf : score(scratch, stratum, ranks[i]);
}

void PixelRows::pair_up(std::size_t tile, std::size_t lane, Scratch& scratch, PairsOf keys) const {
    scratch.first.assign(strata_ + 1, 0);
    for_each(tile, lane, [&](std::uint32_t s, std::uint32_t, std::size_t) { ++scratch.first[s + 1]; });
    for (std::size_t s = 0; s < strata_; ++s) scratch.first[s + 1] += scratch.first[s];
    scratch.pairs.resize(scratch.first[strata_]);
    std::vector<std::size_t> next(scratch.first.begin(), scratch.first.end() - 1);
    const bool convert = keys == PairsOf::scores && word_bytes_ != 8;
    for_each(tile, lane, [&](std::uint32_t s, std::uint32_t key, std::size_t place) {
        const std::uint32_t high = convert ? key_of(score_at(s, key)) : key;
        scratch.pairs[next[s]++] = pair_of(high, data_.group_of(place / slots_));
    });
}

}  // namespace kandinsky
