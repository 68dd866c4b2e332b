#include "score/census.hpp"

#include <atomic>
#include <bit>
#include <memory>

#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kTile = kHashStretch;
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
