#include "score/census.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = 4096;  // part of the definition of image_hash: do not change

/// A fast 64-bit hash of a byte string, four independent lanes of multiply and rotate.
std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
    constexpr std::uint64_t kOdd = 0x9FB21C651E98DF25u;
    std::uint64_t lane[4] = {seed ^ 0x243F6A8885A308D3u, seed ^ 0x13198A2E03707344u,
                             seed ^ 0xA4093822299F31D0u, seed ^ 0x082EFA98EC4E6C89u};
    const auto* from = static_cast<const unsigned char*>(data);
    std::size_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        std::uint64_t words[4];
        std::memcpy(words, from + i, 32);
        for (int k = 0; k < 4; ++k) lane[k] = std::rotl((lane[k] ^ words[k]) * kOdd, 29);
    }
    for (; i < bytes; ++i) lane[i % 4] = std::rotl((lane[i % 4] ^ from[i]) * kOdd, 29);
    return mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3] ^ bytes))));
}
}  // namespace

Census take_census(const Dataset& data, Condition condition, Progress& progress) {
    if (!data.labelled()) fail(ErrorKind::internal, "[census] the data set has no labels");
    const std::size_t pixels = data.grid().pixels(), classes = data.classes(), images = data.images();
    const std::size_t tiles = (pixels + kTile - 1) / kTile;
    Census census;
    census.strata = strata_of(data, condition);
    census.counts.assign(census.strata * pixels, 0);
    census.totals.assign(census.strata, 0);
    const auto hashes = std::make_unique<std::atomic<std::uint64_t>[]>(images);
    std::atomic<std::uint64_t> ignored{0};

    parallel_for(tiles, progress, "reading", [&](std::size_t tile) {
        const PixelRange range{tile * kTile, std::min(pixels, (tile + 1) * kTile)};
        const std::size_t n = range.size();
        std::vector<float> probs(classes * n);
        std::vector<std::uint8_t> member(classes * n), valid(n);
        std::uint64_t skipped = 0;
        for (std::size_t image = 0; image < images; ++image) {
            if (progress.cancelled()) throw Interrupted();
            data.read_probs(image, range, probs.data());
            data.read_truth(image, range, member.data(), valid.data());
            for (std::size_t c = 0; c < classes; ++c) {
                std::uint32_t* const counts =
                    census.counts.data() + (condition == Condition::by_class ? c * pixels : 0) + range.begin;
                const std::uint8_t* const has = member.data() + c * n;
                for (std::size_t i = 0; i < n; ++i) counts[i] += has[i];
            }
            for (std::size_t i = 0; i < n; ++i) skipped += valid[i] == 0;
            std::uint64_t hash = hash_bytes(probs.data(), probs.size() * sizeof(float), tile);
            hash = hash_bytes(member.data(), member.size(), hash);
            hash = hash_bytes(valid.data(), valid.size(), hash);
            hashes[image].fetch_add(hash, std::memory_order_relaxed);
        }
        ignored.fetch_add(skipped, std::memory_order_relaxed);
    });

    census.ignored = ignored;
    for (std::size_t s = 0; s < census.strata; ++s)
        for (std::size_t p = 0; p < pixels; ++p) census.totals[s] += census.counts[s * pixels + p];
    census.image_hash.resize(images);
    for (std::size_t image = 0; image < images; ++image) {
        const std::uint64_t content = mix(hashes[image]);
        census.image_hash[image] = content;
        const std::uint64_t owner =
            data.grouped() ? mix(static_cast<std::uint64_t>(data.group_id(image))) : 0;
        census.fingerprint[0] += mix(content ^ owner);
        census.fingerprint[1] += mix(content ^ std::rotl(owner, 17) ^ 0x5851F42D4C957F2Du);
    }
    return census;
}

}  // namespace kandinsky
