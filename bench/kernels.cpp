// Runs one kernel on fixed data inside measured(), the function whose instructions callgrind counts:
//     kernel_counts KERNEL [TARGET]     TARGET: AVX2 (default) or another of Highway's names
// Without arguments it lists the kernels. Exit 77: this machine has no such vector unit.
#include <fmt/format.h>
#include <hwy/targets.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/kernel/compare_kernels.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/kernel/half.hpp"
#include "core/kernel/hash.hpp"
#include "curve/column_sort.hpp"
#include "curve/score_key.hpp"
#include "evaluate/kernels.hpp"
#include "io/zip/crc32.hpp"
#include "score/code_kernels.hpp"

using namespace kandinsky;

extern "C" [[gnu::noinline]] void measured(const std::function<void()>& work) {
    work();
}

namespace {
constexpr std::size_t kPixels = 4096, kImages = 32, kLevels = 19, kRows = 2000;

struct Inputs {
    std::vector<std::uint16_t> halves = std::vector<std::uint16_t>(kImages * kPixels);
    std::vector<std::uint16_t> words = halves, limits = halves;
    std::vector<std::uint32_t> keys = std::vector<std::uint32_t>(kPixels);
    std::vector<float> floats = std::vector<float>(kLevels * kPixels), others = floats;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kImages * kPixels), member = bytes;
    std::vector<std::uint8_t> ranks = std::vector<std::uint8_t>(kPixels);
    std::vector<std::uint64_t> totals = std::vector<std::uint64_t>(2 * 20);
    std::vector<std::int64_t> gaps = std::vector<std::int64_t>(kPixels);
    std::array<std::uint64_t, 4> hashes{};
    std::vector<double> doubles = std::vector<double>(3 * kPixels);
    alignas(kLineBytes) std::uint16_t lines[kRows * kLineBytes / 2];
    alignas(kLineBytes) std::uint32_t wide_lines[kRows * kLineBytes / 4];

    Inputs() {
        Random random(1, 1);
        for (auto& half : halves) half = static_cast<std::uint16_t>(random.below(0x3C01));
        limits = halves;
        for (auto& word : lines) word = static_cast<std::uint16_t>(random.below(65536));
        for (auto& word : wide_lines) word = static_cast<std::uint32_t>(random.below(0x100000000));
        for (auto& key : keys) key = static_cast<std::uint32_t>(random.below(0x40000000));
        for (auto& value : floats) value = static_cast<float>(random.uniform());
        others = floats;
        for (auto& rank : ranks) rank = static_cast<std::uint8_t>(random.below(kLevels + 1));
        for (auto& one : member) one = static_cast<std::uint8_t>(random.below(2));
    }
    [[nodiscard]] const std::byte* raw() const { return reinterpret_cast<const std::byte*>(halves.data()); }
};
}  // namespace

int main(int argc, char** argv) {
    static Inputs in;
    const std::map<std::string, std::function<void()>> kernels{
        {"half_to_float", [&] { half_to_float(in.raw(), kPixels, in.floats.data()); }},
        {"unit_half_to_float",
         [&] { in.bytes[0] = unit_half_to_float(in.raw(), kPixels, in.floats.data()); }},
        {"split_bytes",
         [&] {
             constexpr std::uint8_t kIgnored[] = {255};
             in.bytes[0] = split_bytes(in.member.data(), kPixels, kIgnored, 2, in.bytes.data(), kPixels,
                                       in.bytes.data() + 2 * kPixels);
         }},
        {"add_bytes", [&] { add_bytes(in.member.data(), kPixels, in.bytes.data()); }},
        {"sum_bytes", [&] { in.totals[0] = sum_bytes(in.member.data(), kPixels); }},
        {"all_in_unit_interval", [&] { in.bytes[0] = all_in_unit_interval(in.floats.data(), kPixels); }},
        {"codes_of_halves", [&] { codes_of_halves(in.raw(), kPixels, 0x3C00, in.words.data()); }},
        {"codes_of_bytes",
         [&] {
             codes_of_bytes(reinterpret_cast<const std::byte*>(in.member.data()), kPixels, 255,
                            in.words.data());
         }},
        {"merge_codes",
         [&] { merge_codes(in.halves.data(), in.member.data(), kPixels, 0x4000, in.words.data()); }},
        {"copy_lines",
         [&] { copy_lines(in.halves.data(), 2 * kPixels, kImages, reinterpret_cast<std::byte*>(in.lines)); }},
        {"sort_columns_16", [&] { sort_columns(in.lines, kRows); }},
        {"sort_columns_32", [&] { sort_columns(in.wide_lines, kRows); }},
        {"sort_keys", [&] { sort_keys(in.keys); }},
        {"at_least", [&] { at_least(in.floats.data(), in.others.data(), kPixels, in.bytes.data()); }},
        {"at_least_bits",
         [&] { at_least_bits(in.floats.data(), in.others.data(), kPixels, in.bytes.data()); }},
        {"halves_at_least",
         [&] { in.bytes[0] = halves_at_least(in.raw(), in.limits.data(), kPixels, in.bytes.data()); }},
        {"add_both", [&] { add_both(in.member.data(), in.member.data(), kPixels, in.bytes.data()); }},
        {"count_both",
         [&] { in.floats[0] = static_cast<float>(count_both(in.member.data(), in.member.data(), kPixels)); }},
        {"add_covered",
         [&] { add_covered(in.ranks.data(), in.member.data(), kLevels, kPixels, in.bytes.data()); }},
        {"count_ranks",
         [&] { count_ranks(in.ranks.data(), in.member.data(), kLevels, kPixels, in.totals.data()); }},
        {"bin_probabilities",
         [&] {
             bin_probabilities(in.floats.data(), in.member.data(), in.member.data() + kPixels, kPixels, 20,
                               1024, {in.bytes.data(), in.words.data(), in.gaps.data()});
         }},
        {"count_bins",
         [&] {
             count_bins(in.ranks.data(), in.member.data(), kPixels, 20, in.totals.data(),
                        in.totals.data() + 20);
         }},
        {"rank_sets",
         [&] {
             std::uint8_t* const out = in.bytes.data();
             rank_sets(in.ranks.data(), in.member.data(), kPixels, out, out + kPixels, out + 2 * kPixels,
                       out + 3 * kPixels);
         }},
        {"hash_four",
         [&] {
             const void* const from = in.floats.data();
             hash_four({from, from, from, from}, kPixels * sizeof(float), in.hashes);
         }},
        {"crc32", [&] { in.keys[0] = crc32_of(in.floats.data(), kPixels * sizeof(float)); }},
        {"add_words", [&] { add_words(in.halves.data(), kPixels, in.words.data()); }},
        {"add_errors",
         [&] {
             add_errors(in.halves.data(), in.doubles.data(), 0.5, kPixels, in.doubles.data() + kPixels,
                        in.doubles.data() + 2 * kPixels);
         }},
        {"first_covering_level",
         [&] {
             first_covering_level(in.floats.data(), in.others.data(), kLevels, kPixels, in.bytes.data());
         }},
    };
    if (argc < 2) {
        for (const auto& [name, work] : kernels) fmt::print("{}\n", name);
        return 0;
    }
    const auto found = kernels.find(argv[1]);
    if (found == kernels.end()) return fmt::print(stderr, "there is no kernel {}\n", argv[1]), 2;
    const std::string wanted = argc > 2 ? argv[2] : "AVX2";
    std::int64_t target = 0;
    for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1)
        if (hwy::TargetName(rest & -rest) == wanted) target = rest & -rest;
    if (target == 0) return fmt::print(stderr, "this machine has no {}\n", wanted), 77;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    measured(found->second);
    return 0;
}
