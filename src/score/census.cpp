#include "score/census.hpp"
#include "core/data/dataset_access.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <kandinsky/threads.hpp>
#include <memory>
#include <mutex>

#include "core/base/fail.hpp"
#include "core/base/random.hpp"
#include "core/kernel/count_kernels.hpp"
#include "core/kernel/hash.hpp"
#include "core/team/team.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
/// The number of images in a block, which one thread reads in a row: some megabytes of a file, but at most 64
/// images, so that counts fit into bytes. A block has several images even if they are large, because a guest
/// processes the images of a block together at each pixel.
std::size_t block_of(const Dataset& data) {
    const std::size_t image = data.grid().pixels() * data.classes() * 2;
    const std::size_t each = (data.images() + 4 * threads_in_use() - 1) / (4 * threads_in_use());
    const std::size_t most = std::clamp<std::size_t>(each, 1, 64);
    const std::size_t least = std::clamp<std::size_t>((std::size_t{128} << 20) / image, 1, 8);
    return std::clamp((std::size_t{8} << 20) / image, std::min(least, most), most);
}

/// Throws the error of the first image with a bad value.
void refuse_first_bad(const Dataset& data) {
    const std::size_t pixels = data.grid().pixels();
    std::vector<float> probs(data.classes() * pixels);
    std::vector<std::uint8_t> member(probs.size()), valid(pixels);
    for (std::size_t image = 0; image < data.images(); ++image) {
        data.read_probs(image, {0, pixels}, probs);
        data.read_truth(image, {0, pixels}, member, valid);
    }
}
}  // namespace

Census take_census(const Dataset& data, Condition condition, Progress& progress, CensusGuest* guest) {
    if (!data.labelled())
        fail(ErrorKind::usage, "{}: the images have no labels, which calibration and evaluation need",
             data.options().probs_name);
    const std::size_t pixels = data.grid().pixels(), classes = data.classes(), images = data.images();
    const Tiles tiles{pixels, kHashStretch};
    Census census;
    census.strata = strata_of(data, condition);
    census.counts.assign(census.strata * pixels, 0);
    census.totals.assign(census.strata, 0);
    census.image_hash.assign(images, 0);
    const auto adding = std::make_unique<std::mutex[]>(tiles.count());
    const Visit visit{.data = data, .progress = progress, .stage = "reading", .sums = [&] {
                          VisitSums sums;
                          sums.add(std::span(census.counts));
                          sums.add(census.ignored);
                          sums.add(census.classless);
                          sums.keep(bytes_of(census.image_hash));
                          return sums;
                      }};

    // Whole images in the file's order, so that every byte is read once, in order.
    const auto read_block = [&](std::size_t, std::size_t first, std::size_t last) {
        const std::size_t length = std::min(pixels, tiles.length);
        // Four images at a time, because four hashes are computed together.
        std::vector<float> probs(4 * classes * length);
        std::vector<std::uint8_t> member(probs.size()), valid(4 * length), sums(classes * length);
        std::vector<std::array<const std::byte*, 4>> planes(classes);
        std::uint64_t skipped = 0, classless = 0;
        for (std::size_t tile = 0; tile < tiles.count(); ++tile) {
            visit.stop_if_cancelled();
            const PixelRange range = tiles[tile];
            const std::size_t n = range.size();
            const bool halves = n % 8 == 0 && halves_of(data, first, 0) != nullptr;
            std::fill(sums.begin(), sums.end(), std::uint8_t{0});
            for (std::size_t image = first; image < last; image += 4) {
                const std::size_t some = std::min<std::size_t>(4, last - image);
                for (std::size_t k = 0; k < some; ++k) {
                    const std::span<std::uint8_t> own =
                        std::span(member).subspan(k * classes * n, classes * n);
                    std::uint8_t* const has = own.data();
                    if (!halves) data.read_probs(image + k, range, std::span(probs).subspan(k * classes * n));
                    data.read_truth(image + k, range, own, std::span(valid).subspan(k * n));
                    if (guest != nullptr) guest->see(range, first, last, image + k, has);
                    add_bytes(has, classes * n, sums.data());
                    skipped += n - sum_bytes(valid.data() + k * n, n);
                    for (std::size_t i = 0; data.overlapping() && i < n; ++i) {
                        bool any = false;
                        for (std::size_t c = 0; c < classes; ++c) any = any || has[c * n + i] != 0;
                        classless += !any;
                    }
                }
                std::array<std::uint64_t, 4> hash{tile, tile, tile, tile};
                const auto add = [&](const auto& values, std::size_t count) {
                    const auto of = [&](std::size_t k) {
                        return values.data() + std::min(k, some - 1) * count;
                    };
                    hash_four({of(0), of(1), of(2), of(3)}, count * sizeof(*values.data()), hash);
                };
                if (!halves) {
                    add(probs, classes * n);
                } else {
                    for (std::size_t c = 0; c < classes; ++c)
                        for (std::size_t k = 0; k < 4; ++k)
                            planes[c][k] =
                                halves_of(data, image + std::min(k, some - 1), c) + 2 * range.begin;
                    if (!hash_halves(planes, n, hash))
                        for (std::size_t k = 0; k < some; ++k)  // one of them reports the error
                            data.read_probs(image + k, range, probs);
                }
                add(member, classes * n);
                add(valid, n);
                for (std::size_t k = 0; k < some; ++k) census.image_hash[image + k] += hash[k];
            }
            const std::lock_guard lock(adding[tile]);
            for (std::size_t c = 0; c < classes; ++c) {
                std::uint32_t* const counts =
                    census.counts.data() + (condition == Condition::by_class ? c * pixels : 0) + range.begin;
                for (std::size_t i = 0; i < n; ++i) counts[i] += sums[c * n + i];
            }
        }
        std::atomic_ref(census.ignored).fetch_add(skipped, std::memory_order_relaxed);
        std::atomic_ref(census.classless).fetch_add(classless, std::memory_order_relaxed);
    };
    try {
        visit_blocks(visit, {.images = block_of(data)}, read_block);
    } catch (const Error& error) {
        // Threads may fail in any order, but the image that the error names must not depend on it.
        if (error.kind() == ErrorKind::data) refuse_first_bad(data);
        throw;
    }

    // The counts are now those of all ranks. The hashes are those of this rank's images.
    for (std::size_t s = 0; s < census.strata; ++s)
        for (std::size_t p = 0; p < pixels; ++p) census.totals[s] += census.counts[s * pixels + p];
    for (std::size_t image = 0; image < images; ++image) {
        const std::uint64_t content = mix(census.image_hash[image]);
        census.image_hash[image] = content;
        const std::uint64_t owner =
            data.grouped() ? mix(static_cast<std::uint64_t>(data.group_id(image))) : 0;
        census.fingerprint[0] += mix(content ^ owner);
        census.fingerprint[1] += mix(content ^ std::rotl(owner, 17) ^ 0x5851F42D4C957F2Du);
    }
    std::uint64_t sums[] = {images, data.groups(), census.fingerprint[0], census.fingerprint[1]};
    team_of(data).comm.sum(std::span(sums));
    census.images = sums[0];
    census.groups = sums[1];
    census.fingerprint = {sums[2], sums[3]};
    return census;
}

void refuse_changed(const Dataset& data) {
    fail(ErrorKind::file, "{} or {} changed while it was being read; keep both unchanged and run again",
         data.options().probs_name, data.options().labels_name);
}

}  // namespace kandinsky
