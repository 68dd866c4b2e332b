#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>
#include <limits>
#include <numbers>
#include <span>
#include <vector>
#include "partition/annuli.hpp"
#include "score/scoring.hpp"

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/team/team.hpp"
#include "partition/genann/codebook.hpp"
#include "partition/genann/evolution.hpp"
#include "partition/genann/fitness.hpp"
#include "partition/genann/spans.hpp"

namespace kandinsky {

namespace partition::genann {
namespace {
constexpr std::uint64_t kRefine = 0x67656e616e6e03;  // purpose of the random stream
constexpr std::size_t kCells = 512;                  // of the code book
// Up to this number of pixels, the exact Euclidean sum costs no more than the code book.
constexpr std::size_t kExactPixels = 2500;
// Batches of the local search on larger grids, where a step costs more.
constexpr std::size_t kSurrogateBatches = 24;
// The window, in pixels, of exact radius sweeps of a finalist that was found with the code book.
constexpr double kExactWindow = 0.5;

/// The search space: cx, cy, radii and, for ellipses, log(axis ratio) times (cos 2 angle, sin 2 angle). These
/// coordinates are unique: a circle has no undefined angle, angles do not jump from pi to 0, and an ellipse
/// with swapped axes has no second representation.
class Parameters {
  public:
    /// Throws a usage error for bounds that do not form a box.
    Parameters(AnnuliShape shape, std::size_t radii, const AnnuliBounds& bounds)
        : shape_(shape), radii_(radii), stretch_(std::log(bounds.axis_ratio)) {
        if (radii < 1 || radii > 16)
            fail(ErrorKind::usage, "the number of radii is {}, but must be 1 to 16", radii);
        for (const double limit : {bounds.centre_x, bounds.centre_y, bounds.inner, bounds.outer})
            if (!std::isfinite(limit) || limit < 0)
                fail(ErrorKind::usage,
                     "annuli bound {} is not a length; bounds must be finite and at least 0", limit);
        if (bounds.outer < bounds.inner)
            fail(ErrorKind::usage,
                 "the bound of the outermost radius is {}, but must be at least {}, the bound of the inner "
                 "radii",
                 bounds.outer, bounds.inner);
        if (!(bounds.axis_ratio >= 1) || !std::isfinite(bounds.axis_ratio))
            fail(ErrorKind::usage, "the largest axis ratio is {}, but must be finite and at least 1",
                 bounds.axis_ratio);
        lower_ = {-bounds.centre_x, -bounds.centre_y};
        upper_ = {bounds.centre_x, bounds.centre_y};
        for (std::size_t k = 0; k < radii; ++k) {
            lower_.push_back(0);
            upper_.push_back(k + 1 < radii ? bounds.inner : bounds.outer);
        }
        if (shape == AnnuliShape::circle) return;
        for (int k = 0; k < 2; ++k) {
            lower_.push_back(-stretch_);
            upper_.push_back(stretch_);
        }
    }

    [[nodiscard]] const std::vector<double>& lower() const { return lower_; }
    [[nodiscard]] const std::vector<double>& upper() const { return upper_; }
    [[nodiscard]] std::size_t count() const { return lower_.size(); }
    /// Sorts the radii and shortens the ellipse vector to the largest axis ratio.
    void repair(std::span<double> values) const {
        std::sort(values.begin() + 2, values.begin() + 2 + static_cast<std::ptrdiff_t>(radii_));
        if (shape_ == AnnuliShape::circle) return;
        double &x = values[2 + radii_], &y = values[3 + radii_];
        const double length = std::hypot(x, y);
        if (length <= stretch_) return;
        x *= stretch_ / length;
        y *= stretch_ / length;
    }
    /// Repairs, then clips to the box.
    void normalise(std::span<double> values) const {
        repair(values);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = std::clamp(values[k], lower_[k], upper_[k]);
    }
    [[nodiscard]] Annuli annuli(std::span<const double> values) const {
        Annuli annuli;
        annuli.cx = values[0], annuli.cy = values[1];
        annuli.radii.assign(values.begin() + 2, values.begin() + 2 + static_cast<std::ptrdiff_t>(radii_));
        if (shape_ == AnnuliShape::circle) return annuli;
        const double x = values[2 + radii_], y = values[3 + radii_];
        annuli.axis_ratio = std::exp(std::hypot(x, y));
        annuli.angle = std::atan2(y, x) / 2;
        if (annuli.angle < 0) annuli.angle += std::numbers::pi;
        return annuli;
    }
    /// The standard deviations of the steps of a local search at scale 1: lengths in pixels, and the ellipse
    /// vector.
    [[nodiscard]] std::vector<double> steps(const Grid& grid) const {
        std::vector<double> steps(2 + radii_, 1.0);
        // A change of the axis ratio that moves the edge of a disc as large as the image by about two pixels.
        if (shape_ == AnnuliShape::ellipse)
            steps.resize(4 + radii_, 4.0 / std::max(1.0, std::hypot(grid.width, grid.height) / 2));
        return steps;
    }

  private:
    AnnuliShape shape_;
    std::size_t radii_;
    double stretch_;  ///< log of the largest axis ratio
    std::vector<double> lower_, upper_;
};

/// The best member and up to two more. Any two of them differ by more than two pixels in some parameter.
std::vector<std::vector<double>> finalists(const EvolutionResult& evolution, std::size_t lengths) {
    std::vector<std::vector<double>> chosen;
    for (const auto& member : evolution.population) {
        const bool elsewhere =
            std::all_of(chosen.begin(), chosen.end(), [&](const std::vector<double>& other) {
                for (std::size_t k = 0; k < lengths; ++k)
                    if (std::abs(member[k] - other[k]) > 2) return true;
                return false;
            });
        if (elsewhere) chosen.push_back(member);
        if (chosen.size() == 3) break;
    }
    return chosen;
}

/// Draws the radii of an initial member: distances of pixels with data at random quantiles, so that nearly
/// every region has data. If a class covers a small part of the grid, most uniform radii would lie outside it
/// and have equal fitness, and the evolution would have no direction.
void start_radii(const Cloud& cloud, Origin origin, const Annuli& annuli, Random& random,
                 std::span<double> radii) {
    const std::size_t stride = std::max<std::size_t>(1, cloud.grid.pixels() / 4096);
    const Norm norm(annuli);
    std::vector<double> distances;
    distances.reserve(cloud.grid.pixels() / stride + 1);
    std::size_t row = 0, column = 0;
    for (std::size_t p = 0; p < cloud.grid.pixels(); p += stride, column += stride) {
        for (; column >= cloud.grid.width; ++row) column -= cloud.grid.width;
        if (cloud.before[p + 1] == cloud.before[p]) continue;
        const double x = static_cast<double>(column) - origin.x0 - annuli.cx;
        const double y = origin.y0 - static_cast<double>(row) - annuli.cy;
        distances.push_back(norm.squared(x, y));
    }
    if (distances.empty()) return;
    std::vector<std::pair<std::size_t, double>> draws;  // rank, and pixels to add to its distance
    for (std::size_t k = 0; k < radii.size(); ++k) {
        const std::size_t rank = random.below(distances.size());
        draws.emplace_back(rank, random.uniform());
    }
    // Searches only the drawn ranks, in ascending order. The caller sorts the radii.
    std::sort(draws.begin(), draws.end());
    auto begin = distances.begin();
    for (std::size_t k = 0; k < radii.size(); ++k) {
        const auto at = distances.begin() + static_cast<std::ptrdiff_t>(draws[k].first);
        std::nth_element(begin, at, distances.end());
        radii[k] = std::sqrt(*at) + draws[k].second;
        begin = at;
    }
}

struct RefineSettings {
    std::size_t batches = 100;
    std::size_t batch = 8;  ///< tries from one best member, which are scored in parallel
    double scale = 1;       ///< the largest scale of a step; each try draws its own, uniform in its logarithm
    double finest = 0.03;   ///< the smallest scale, relative to the largest
    double window = 1;      ///< window of the radius sweeps, in pixels
    int rounds = 2;         ///< number of sweeps after each step
    std::uint64_t seed = 0;
    const Team* team = nullptr;  ///< ranks that share the tries; null: one process
};

/// Local search on a fitness that is discontinuous at the scale of a pixel, where single pixels change their
/// region. Random steps of the centre (and ellipse) are each followed by sweeps of all radii; without a
/// sweeper the radii take random steps too. Improves `values` and returns the number of tries. Depends on the
/// seed only.
std::size_t refine(const Cloud& cloud, Origin origin, const Parameters& space, const Fitness& fitness,
                   const Sweeper* sweeper, const RefineSettings& settings, std::vector<double>& values,
                   Progress& progress) {
    const std::vector<double> steps = space.steps(cloud.grid);
    const std::size_t radii = space.annuli(values).radii.size();
    const auto score = [&](const Annuli& annuli) {
        return fitness.score(Spans(cloud.grid, origin, annuli, Edge::open));
    };
    double best = score(space.annuli(values));
    Communicator& comm = comm_of(settings.team);
    const auto at = [&](std::size_t t) { return static_cast<std::ptrdiff_t>(t * (space.count() + 1)); };
    struct Try {
        std::vector<double> values;
        double fitness = 0;
    };
    for (std::size_t b = 0; b < settings.batches; ++b) {
        if (progress.cancelled()) throw Interrupted();
        std::vector<Try> tries(settings.batch);
        parallel_for(settings.batch, [&](std::size_t t) {
            if (t % comm.size() != comm.rank()) return;
            Random random(settings.seed, kRefine, b * settings.batch + t);
            const double scale = settings.scale * std::pow(settings.finest, random.uniform());
            std::vector<double>& moved = tries[t].values;
            moved = values;
            for (std::size_t k = 0; k < space.count(); ++k)
                if (sweeper == nullptr || k < 2 || k >= 2 + radii)
                    moved[k] += scale * steps[k] * random.normal();
            space.normalise(moved);
            Annuli annuli = space.annuli(moved);
            tries[t].fitness = score(annuli);
            if (sweeper == nullptr) return;
            for (int round = 0; round < settings.rounds; ++round)
                for (std::size_t k = 0; k < radii; ++k)
                    tries[t].fitness += sweep_radius(cloud, *sweeper, origin, annuli, k, settings.window,
                                                     space.upper()[2 + k]);
            std::copy(annuli.radii.begin(), annuli.radii.end(), moved.begin() + 2);
        });
        // All ranks receive all tries, so the result does not depend on the number of ranks.
        std::vector<double> all(settings.batch * (space.count() + 1));
        for (std::size_t t = comm.rank(); t < settings.batch; t += comm.size()) {
            std::copy(tries[t].values.begin(), tries[t].values.end(), all.begin() + at(t));
            all[t * (space.count() + 1) + space.count()] = tries[t].fitness;
        }
        gather_doubles(comm, all);
        for (std::size_t t = 0; t < settings.batch; ++t) {
            tries[t].values.assign(all.begin() + at(t), all.begin() + at(t + 1) - 1);
            tries[t].fitness = all[t * (space.count() + 1) + space.count()];
        }
        const auto winner =
            std::min_element(tries.begin(), tries.end(),
                             [](const Try& one, const Try& other) { return one.fitness < other.fitness; });
        if (winner->fitness < best) values = winner->values, best = winner->fitness;
    }
    return settings.batches * settings.batch;
}
}  // namespace
}  // namespace partition::genann

AnnuliBounds annuli_bounds(std::string_view preset, const Grid& grid) {
    if (preset == "coco") return {.centre_x = 20, .centre_y = 20, .inner = 150, .outer = 300};
    if (preset == "decathlon") return {.centre_x = 60, .centre_y = 60, .inner = 200, .outer = 400};
    if (preset != "auto")
        fail(ErrorKind::usage, "there are no annuli bounds '{}'; choose one of auto, coco, decathlon",
             preset);
    // The centre may be half-way between the middle and the border. From there the far corner is at 3/4 of
    // the diagonal, so a larger circle would contain no more pixels.
    const double reach = 0.75 * std::hypot(grid.width, grid.height);
    return {.centre_x = grid.width / 4.0, .centre_y = grid.height / 4.0, .inner = reach, .outer = reach};
}

std::vector<Annuli> annuli_from_rows(std::span<const double> rows, std::size_t columns, AnnuliShape shape) {
    const std::size_t extra = shape == AnnuliShape::ellipse ? 4 : 2;
    if (columns <= extra || rows.size() % columns != 0)
        fail(ErrorKind::data,
             "{} numbers in rows of {} do not describe annuli; a row is cx, cy, one radius or more{}",
             rows.size(), columns, shape == AnnuliShape::ellipse ? ", axis ratio, angle" : "");
    std::vector<Annuli> result;
    for (std::size_t start = 0; start < rows.size(); start += columns) {
        const auto row = rows.subspan(start, columns);
        Annuli annuli;
        annuli.cx = row[0], annuli.cy = row[1];
        annuli.radii.assign(row.begin() + 2, row.end() - static_cast<std::ptrdiff_t>(extra - 2));
        if (shape == AnnuliShape::ellipse)
            annuli.axis_ratio = row[columns - 2], annuli.angle = row[columns - 1];
        partition::genann::check(annuli);
        result.push_back(std::move(annuli));
    }
    return result;
}

AnnuliFit fit_annuli(const AnnuliPoints& points, const AnnuliOptions& options, Progress& progress) {
    using namespace partition::genann;
    AnnuliFit fit;
    fit.bounds = options.bounds.value_or(annuli_bounds("auto", points.grid));
    const Parameters space(options.shape, options.radii, fit.bounds);
    const Origin origin = origin_of(points.grid, options.rule);
    const Cloud cloud(points);
    const auto exact = exact_fitness(cloud, options.metric);
    fit.surrogate = options.metric == AnnuliMetric::euclidean && cloud.size() > kExactPixels;
    const auto codebook = fit.surrogate ? std::make_unique<Codebook>(cloud, kCells) : nullptr;
    const Fitness& guide = fit.surrogate ? static_cast<const Fitness&>(*codebook) : *exact;

    const auto spans_of = [&](std::span<const double> values) {
        return Spans(points.grid, origin, space.annuli(values), Edge::open);
    };
    const EvolutionSettings settings{
        .lower = space.lower(),
        .upper = space.upper(),
        .population =
            options.population > 0 ? options.population : std::max<std::size_t>(60, 6 * space.count()),
        .generations = options.generations,
        .spread = options.spread,
        .stall = options.stall,
        .seed = options.seed,
        .stage = "genann",
        .team = options.team,
        .start =
            [&](Random& random, std::span<double> values) {
                space.normalise(values);
                start_radii(cloud, origin, space.annuli(values), random, values.subspan(2, options.radii));
            },
        .repair = [&](std::span<double> values) { space.repair(values); },
    };
    const auto score = [&](std::span<const double> values, double limit) {
        return guide.score(spans_of(values), limit);
    };
    const EvolutionResult evolution = evolve(settings, score, progress);
    fit.generations = evolution.generations;
    fit.evaluations = evolution.evaluations;
    fit.stopped = evolution.stopped;
    fit.log = evolution.log;

    // A local search from each finalist with the fitness of the evolution; the exact fitness then decides.
    const ExactSweeper exact_sweeper(cloud);
    const Sweeper* sweeper = fit.surrogate ? codebook.get() : static_cast<const Sweeper*>(&exact_sweeper);
    if (options.metric != AnnuliMetric::euclidean) sweeper = nullptr;
    fit.fitness = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> candidates = finalists(evolution, 2 + options.radii);
    for (std::vector<double>& candidate : candidates) {
        RefineSettings refining{.seed = options.seed, .team = options.team};
        if (fit.surrogate) refining.batches = kSurrogateBatches, refining.window = 0.6, refining.rounds = 1;
        refining.batches = std::max<std::size_t>(1, refining.batches / candidates.size());
        fit.refinements += refine(cloud, origin, space, guide, sweeper, refining, candidate, progress);
        Annuli annuli = space.annuli(candidate);
        for (std::size_t k = 0; k < options.radii && fit.surrogate; ++k)
            sweep_radius(cloud, exact_sweeper, origin, annuli, k, kExactWindow, space.upper()[2 + k]);
        const double fitness = exact->score(Spans(points.grid, origin, annuli, Edge::open));
        if (!(fitness < fit.fitness)) continue;
        fit.fitness = fitness;
        fit.annuli = annuli;
    }
    if (!std::isfinite(fit.fitness))
        fail(ErrorKind::data,
             "the features are too far apart: sums of their distances are not finite; scale the scores down");
    return fit;
}

}  // namespace kandinsky
