#include <algorithm>
#include <cmath>
#include <kandinsky/sketch.hpp>
#include <numeric>

#include "calibrate/calibration_run.hpp"
#include "calibrate/choose.hpp"
#include "calibrate/confidence.hpp"
#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "partition/method.hpp"
#include "score/scored_tile.hpp"
#include "score/scoring.hpp"
#include "score/visit.hpp"

namespace kandinsky {

namespace {
constexpr std::size_t kMostBins = std::size_t{1} << 16;

void refuse_unless_possible(const CalibrateOptions& options, const Grid& grid) {
    check_confidence(options);
    if (options.method.name == kAutoMethod || method(options.method.name).fit_curves) {
        std::string others;
        for (const Method* one : methods())
            if (one->fit) others += (others.empty() ? "" : ", ") + one->name;
        fail(ErrorKind::usage,
             "`sketch` reads the images once, which `method {}` cannot do; choose one of {}",
             options.method.name, others);
    }
    if (has_choice(options))
        fail(ErrorKind::usage,
             "`sketch` reads the images once, so cross-validation cannot choose: give a number instead of "
             "'auto'");
    if (!options.weights.none())
        fail(ErrorKind::usage, "`sketch` gives every image the same weight, so it cannot have `weights`");
    if (options.adapt == Adapt::image)
        fail(ErrorKind::usage, "`sketch` reads the images once, so it cannot learn `adapt image`");
    if (options.released)
        fail(ErrorKind::usage, "`sketch` cannot reproduce the released code's exact curves");
    if (options.split > 0 || options.promise == Promise::split || options.promise == Promise::leave_one_out)
        fail(ErrorKind::usage, "`sketch` reads the images once, so `split` and `promise` cannot divide them");
    if (options.pooling != Pooling::groups) return;
    // The weight of a score in its group is known only after a pass over the groups, unless it is the group's
    // only score.
    bool single = false;
    if (!method(options.method.name).uses_features) {
        const std::vector<std::uint32_t> none(grid.pixels());
        PartitionInput input;
        input.grid = grid;
        input.counts = none;
        single = is_pixelwise(fit_region(options, input, silent()));
    }
    if (!single)
        fail(ErrorKind::usage,
             "in regions, `sketch` gives every pixel the same weight; use `pooling pixels` (or "
             "`method pixel`)");
}
}  // namespace

Sketch::Sketch(Grid grid, std::size_t classes, const CalibrateOptions& options)
    : grid_(grid),
      classes_(classes),
      strata_(options.condition == Condition::by_class ? classes : 1),
      options_(effective(options)) {
    settle_defaults(options_);
    refuse_unless_possible(options_, grid);
    options_.promise = Promise::none;
    const bool unit = options.score.kind == ScoreKind::lac || options.score.kind == ScoreKind::margin;
    low_ = score_range(options.score, classes).low;
    const double high = unit ? 1.0 : largest_score(options.score, classes);
    // The ends of bins are floats, so the width is reduced by the largest rounding error.
    const double rounding = 0x1.0p-23 * high;
    const double wanted = std::ceil((high - low_) / (options.sketch - rounding));
    if (!(options.sketch > rounding) || !(wanted <= static_cast<double>(kMostBins)))
        fail(ErrorKind::usage, "`sketch` is {}, but must be an error between {:.2g} and {}", options.sketch,
             (high - low_) / static_cast<double>(kMostBins - 100), high - low_);
    const std::size_t bins = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
    width_ = (high - low_) / static_cast<double>(bins);
    for (std::size_t b = 0; b < bins; ++b)
        edges_.push_back(static_cast<float>(low_ + static_cast<double>(b + 1) * width_));
    edges_.back() = static_cast<float>(high);
    for (std::size_t b = 0; b < bins; ++b)
        error_ = std::max(error_, static_cast<double>(edges_[b]) - (b == 0 ? low_ : edges_[b - 1]));
    const std::size_t places = strata_ * grid.pixels();
    const std::size_t bytes = places * bins * sizeof(std::uint32_t);
    if (bytes > options.memory)
        fail(
            ErrorKind::usage,
            "`sketch {}` needs {} MiB for {} classes of {} x {} pixels (height x width), but `memory` allows "
            "{} MiB; allow a larger error or more memory",
            options.sketch, (bytes >> 20) + 1, strata_, grid.height, grid.width, options.memory >> 20);
    counts_.resize(places * bins);
    totals_.resize(places);
}

std::uint32_t Sketch::bin_of(float score) const {
    const auto last = static_cast<std::int64_t>(edges_.size()) - 1;
    auto bin = std::clamp(static_cast<std::int64_t>((static_cast<double>(score) - low_) / width_),
                          std::int64_t{0}, last);
    // The quotient may be off by one bin because of rounding.
    while (bin < last && score > edges_[static_cast<std::size_t>(bin)]) ++bin;
    while (bin > 0 && score <= edges_[static_cast<std::size_t>(bin) - 1]) --bin;
    return static_cast<std::uint32_t>(bin);
}

void Sketch::refuse_part() const {
    if (part_)
        fail(ErrorKind::usage,
             "[Sketch] an earlier call stopped before it had counted all of its images; start a new sketch");
}

void Sketch::add(const Dataset& images, Progress& progress) {
    refuse_part();
    if (images.grid() != grid_ || images.classes() != classes_)
        fail(ErrorKind::data,
             "{} has {} classes of {} x {} (height x width), but the sketch has {} of {} x {}",
             images.options().probs_name, images.classes(), images.grid().height, images.grid().width,
             classes_, grid_.height, grid_.width);
    if (images.grouped() && options_.pooling == Pooling::groups)
        fail(ErrorKind::usage,
             "`sketch` gives every image the same weight, so `groups` needs `pooling pixels`");
    if (images_ > 0 && images.grouped() != grouped_)
        fail(ErrorKind::usage, "either all images of a sketch have groups or none");
    // Bad values are found before anything is counted.
    const Census census = take_census(images, options_.condition, progress);
    // The counters are too large to be copied first.
    part_ = true;
    for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += census.counts[i];
    for (std::size_t i = 0; i < 2; ++i) fingerprint_[i] += census.fingerprint[i];
    count(images, progress);
    grouped_ = images.grouped();
    masks_ = masks_ || images.overlapping();
    classless_ = classless_ || census.classless > 0;
    for (std::size_t image = 0; grouped_ && image < images.images(); ++image)
        group_ids_.insert(images.group_id(image));
    images_ += images.images();
    part_ = false;
}

void Sketch::count(const Dataset& images, Progress& progress) {
    const std::size_t bins = edges_.size();
    const Tiles tiles{grid_.pixels(), 512};  // pixels; few, so that a tile's counters stay in the cache
    const auto take = [&](std::size_t number, std::size_t first, std::size_t last) {
        const PixelRange range = tiles[number];
        ScoredTile tile(images, options_.score, range.size());
        for (std::size_t image = first; image < last; ++image) {
            tile.load(image, range);
            for (std::size_t c = 0; c < classes_; ++c) {
                const std::size_t s = strata_ == 1 ? 0 : c;
                std::uint32_t* const own = counts_.data() + (s * tiles.pixels + range.begin) * bins;
                const float* const scores = tile.scores(c);
                const std::uint8_t* const member = tile.member(c);
                for (std::size_t i = 0; i < range.size(); ++i)
                    if (member[i] != 0) ++own[i * bins + bin_of(scores[i])];
            }
        }
    };
    visit_tiles({.data = images, .progress = progress, .stage = "sketching", .score = &options_.score},
                tiles.count(), take);
}

/// Makes curves from sums of counters.
class Sketch::Curves {
  public:
    Curves(const Sketch& sketch, std::size_t stratum)
        : sketch_(sketch),
          pixels_(sketch.grid_.pixels()),
          counts_(sketch.counts_.data() + stratum * pixels_ * sketch.bins()) {}

    /// The number of scores of a list of pixels up to the end of each bin.
    [[nodiscard]] std::vector<std::uint64_t> up_to(std::span<const std::uint32_t> pixels) const {
        std::vector<std::uint64_t> sums(sketch_.bins());
        for (const std::uint32_t pixel : pixels)
            for (std::size_t b = 0; b < sums.size(); ++b) sums[b] += counts_[pixel * sums.size() + b];
        std::partial_sum(sums.begin(), sums.end(), sums.begin());
        return sums;
    }
    /// The end of the bin of the k-th score, from 0.
    [[nodiscard]] float at(const std::vector<std::uint64_t>& up_to, std::size_t k) const {
        return sketch_.edges_[static_cast<std::size_t>(std::upper_bound(up_to.begin(), up_to.end(), k) -
                                                       up_to.begin())];
    }
    [[nodiscard]] CurveSet of(const Partition& partition, const CurveRule& rule, Progress& progress) const {
        std::vector<std::vector<std::uint32_t>> members(partition.regions);
        for (std::size_t p = 0; p < pixels_; ++p)
            members[partition.region[p]].push_back(static_cast<std::uint32_t>(p));
        std::vector<CurveSet::Curve> curves(partition.regions);
        parallel_for(curves.size(), progress, "curves", [&](std::size_t r) {
            const std::vector<std::uint64_t> sums = up_to(members[r]);
            curves[r] = build_plain_curve(sums.back(), rule, [&](std::size_t k) { return at(sums, k); });
        });
        CurveSet set(rule.ladder, false);
        for (const CurveSet::Curve& curve : curves) set.append(curve);
        return set;
    }

  private:
    const Sketch& sketch_;
    std::size_t pixels_;
    const std::uint32_t* counts_;  ///< [pixel][bin]
};

Calibrator Sketch::finish(Progress& progress) const {
    refuse_part();
    if (std::accumulate(totals_.begin(), totals_.end(), std::uint64_t{0}) == 0)
        fail(ErrorKind::data, "every pixel of the {} images is ignored, so there is nothing to calibrate on",
             images_);
    const std::size_t pixels = grid_.pixels(), wanted = options_.quantiles.size();
    Calibrator calibrator;
    calibrator.options = options_;
    calibrator.grid = grid_;
    calibrator.classes = classes_;
    calibrator.images = images_;
    calibrator.groups = grouped_ ? group_ids_.size() : images_;
    calibrator.grouped = grouped_;
    calibrator.masks = masks_;
    calibrator.classless = classless_;
    calibrator.fingerprint = fingerprint_;
    calibrator.version = KANDINSKY_VERSION;
    calibrator.counts = totals_;
    calibrator.sketch_error = error_;
    for (std::size_t s = 0; s < strata_; ++s) {
        const Curves curves(*this, s);
        std::vector<float> features;
        if (method(options_.method.name).uses_features) {
            features.assign(pixels * wanted, 0.0f);
            parallel_for(pixels, [&](std::size_t p) {
                const std::uint32_t pixel[] = {static_cast<std::uint32_t>(p)};
                const std::vector<std::uint64_t> sums = curves.up_to(pixel);
                for (std::size_t q = 0; q < wanted && sums.back() > 0; ++q)
                    features[p * wanted + q] = static_cast<float>(
                        interpolated_quantile(sums.back(), options_.quantiles[q],
                                              [&](std::size_t k) { return curves.at(sums, k); }));
            });
        }
        calibrator.partitions.push_back(fit_region(options_,
                                                   {.grid = grid_,
                                                    .stratum = static_cast<std::uint32_t>(s),
                                                    .strata = strata_,
                                                    .feature_count = features.empty() ? 0 : wanted,
                                                    .features = features,
                                                    .counts = std::span(totals_).subspan(s * pixels, pixels)},
                                                   progress));
    }
    const CurveRule rule = rule_for(options_, curve_count(calibrator.partitions));
    for (std::size_t s = 0; s < strata_; ++s) {
        const Curves curves(*this, s);
        calibrator.curves.push_back(curves.of(calibrator.partitions[s], rule, progress));
    }
    resolve_fallback(calibrator);
    if (calibrator.options.fallback == Fallback::image)
        for (std::size_t s = 0; s < strata_; ++s)
            calibrator.curves[s].append(Curves(*this, s).of(whole_image(grid_), rule, progress));
    assign_levels(calibrator);
    return calibrator;
}

}  // namespace kandinsky
