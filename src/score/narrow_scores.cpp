#include "score/narrow_scores.hpp"
#include "core/data/dataset_access.hpp"
#include "score/scoring.hpp"

#include <algorithm>

#include "core/kernel/half.hpp"
#include "score/code_kernels.hpp"

namespace kandinsky {

std::optional<NarrowScores> NarrowScores::of(const Dataset& data, const ScoreOptions& options,
                                             Condition condition) {
    const ArrayView& view = stored_probs(data).view();
    const auto size = static_cast<std::ptrdiff_t>(size_of(view.dtype));
    const bool rows = view.strides[3] == size && view.strides[2] == size * data.grid().width;
    const bool halves = view.dtype == DType::float16;
    if (options.kind != ScoreKind::lac || data.options().logits != Logits::none || !rows ||
        (!halves && view.dtype != DType::uint8))
        return std::nullopt;
    // With a single stored plane the two classes have different codes, so they cannot be pooled.
    if (condition == Condition::none && view.shape[1] == 1) return std::nullopt;
    NarrowScores narrow;
    narrow.data_ = &data;
    narrow.halves_ = halves;
    narrow.single_ = view.shape[1] == 1;
    narrow.top_ = halves ? 0x3C00 : 255;  // the bits of probability 1
    const std::size_t values = std::size_t{narrow.top_} + 1;
    narrow.table_.assign((narrow.single_ ? 2 : 1) * kCodes, 0.0f);
    std::vector<float> probs(values);
    for (std::size_t raw = 0; raw < values; ++raw)
        probs[raw] =
            halves ? half_to_float(static_cast<std::uint16_t>(raw)) : static_cast<float>(raw) / 255.0f;
    // Codes count down from probability 1, where the score is least. For the class whose probability is 1 -
    // p, codes count up.
    if (narrow.single_) {
        std::vector<float> rest(values);
        for (std::size_t raw = 0; raw < values; ++raw) rest[raw] = 1.0f - probs[raw];
        kandinsky::score(options, 1, values, rest.data(), narrow.table_.data() + kCodes);
    }
    std::reverse(probs.begin(), probs.end());
    kandinsky::score(options, 1, values, probs.data(), narrow.table_.data());
    for (std::size_t at = 0; at < narrow.table_.size(); at += kCodes)
        if (!std::is_sorted(narrow.table_.data() + at, narrow.table_.data() + at + values))
            return std::nullopt;
    return narrow;
}

void NarrowScores::read(std::size_t image, PixelRange range, std::size_t c, std::uint16_t* out) const {
    const ArrayView& view = stored_probs(*data_).view();
    const std::byte* const from = view.at(row_of(*data_, image)) +
                                  (single_ ? 0 : static_cast<std::ptrdiff_t>(c) * view.strides[1]) +
                                  static_cast<std::ptrdiff_t>(range.begin) * view.strides[3];
    const bool down = !(single_ && c == 0);
    if (halves_)
        codes_of_halves(from, range.size(), down ? top_ : 0, out);
    else
        codes_of_bytes(from, range.size(), down ? top_ : 0, out);
}

}  // namespace kandinsky
