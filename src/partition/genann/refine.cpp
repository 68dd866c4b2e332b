#include "partition/genann/refine.hpp"

#include <algorithm>
#include <cmath>
#include <kandinsky/error.hpp>

#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/team/team.hpp"

namespace kandinsky::partition::genann {

namespace {
constexpr std::uint64_t kRefine = 0x67656e616e6e03;  // purpose of the random stream
}

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
        // Whose tries they were does not show: all ranks get all, bit by bit.
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

}  // namespace kandinsky::partition::genann
