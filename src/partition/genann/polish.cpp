#include "partition/genann/polish.hpp"

#include <algorithm>
#include <numeric>

#include <kandinsky/error.hpp>

#include "core/parallel.hpp"

namespace kandinsky::partition::genann {

namespace {
std::vector<std::uint8_t> labels_of(const Cloud& cloud, const Spans& spans) {
    std::vector<std::uint8_t> label(cloud.size());
    cloud.visit(spans, [&](std::size_t region, std::size_t first, std::size_t last) {
        std::fill(label.begin() + static_cast<std::ptrdiff_t>(first),
                  label.begin() + static_cast<std::ptrdiff_t>(last), static_cast<std::uint8_t>(region));
    });
    return label;
}

/// With P(A, B) the sum over pairs of A x B, a region R that loses L and gains G changes by
/// -2 P(L, R) + P(L, L) + 2 P(G, R) - 2 P(G, L) + P(G, G).
class EuclideanNeighbourhood final : public Neighbourhood {
  public:
    EuclideanNeighbourhood(const Cloud& cloud, const Spans& base)
        : cloud_(cloud), label_(labels_of(cloud, base)), regions_(group_by_region(cloud, base)) {}

    void rebase(const Spans& candidate) override {
        label_ = labels_of(cloud_, candidate);
        regions_ = group_by_region(cloud_, candidate);
    }
    double work() const override { return work_; }

    double change(const Spans& candidate) override {
        const std::size_t count = regions_.count();
        std::vector<std::vector<std::uint32_t>> lost(count), gained(count);
        cloud_.visit(candidate, [&](std::size_t region, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                if (label_[i] == region) continue;
                lost[label_[i]].push_back(static_cast<std::uint32_t>(i));
                gained[region].push_back(static_cast<std::uint32_t>(i));
            }
        });
        std::vector<PointTable> tables;
        tables.reserve(2 * count);
        struct Product {
            PointBlock a, b;
            double factor;
        };
        std::vector<Product> products;
        const auto add = [&](const PointTable& table, const PointBlock& b, double factor) {
            constexpr std::size_t kStrip = 64;
            for (std::size_t i = 0; i < table.count() && b.count > 0; i += kStrip)
                products.push_back({table.block(i, std::min(table.count(), i + kStrip)), b, factor});
            work_ += static_cast<double>(table.count()) * static_cast<double>(b.count);
        };
        for (std::size_t region = 0; region < count; ++region) {
            const PointTable& loss = tables.emplace_back(cloud_.points.gather(lost[region]));
            const PointTable& gain = tables.emplace_back(cloud_.points.gather(gained[region]));
            add(loss, regions_.block(region), -2);
            add(gain, regions_.block(region), 2);
            add(loss, loss.block(0, loss.count()), 1);
            add(gain, gain.block(0, gain.count()), 1);
            add(gain, loss.block(0, loss.count()), -2);
        }
        std::vector<double> sums(products.size());
        parallel_for(products.size(), [&](std::size_t k) {
            sums[k] = products[k].factor * pair_sum(products[k].a, products[k].b);
        });
        return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(cloud_.grid.pixels());
    }

  private:
    const Cloud& cloud_;
    std::vector<std::uint8_t> label_;  ///< [point], of the base
    Regions regions_;
    double work_ = 0;
};

class ScoredNeighbourhood final : public Neighbourhood {
  public:
    ScoredNeighbourhood(const Cloud& cloud, const Fitness& exact, const Spans& base)
        : exact_(exact), cost_(static_cast<double>(cloud.size())), base_(exact.score(base)) {}
    double change(const Spans& candidate) override {
        work_ += cost_;
        return exact_.score(candidate) - base_;
    }
    void rebase(const Spans& candidate) override { base_ = exact_.score(candidate); }
    double work() const override { return work_; }

  private:
    const Fitness& exact_;
    double cost_;
    double base_;
    double work_ = 0;
};
}  // namespace

std::unique_ptr<Neighbourhood> euclidean_neighbourhood(const Cloud& cloud, const Spans& base) {
    return std::make_unique<EuclideanNeighbourhood>(cloud, base);
}

std::unique_ptr<Neighbourhood> scored_neighbourhood(const Cloud& cloud, const Fitness& fitness,
                                                    const Spans& base) {
    return std::make_unique<ScoredNeighbourhood>(cloud, fitness, base);
}

std::size_t polish(std::vector<double>& parameters, const PolishSettings& settings, Neighbourhood& near,
                   const std::function<Spans(std::vector<double>&)>& spans_of, Progress& progress) {
    std::size_t comparisons = 0;
    for (double scale = settings.first; scale >= settings.last; scale /= 2) {
        bool improved = true;
        while (improved) {
            improved = false;
            for (std::size_t k = 0; k < parameters.size(); ++k) {
                for (const double sign : {1.0, -1.0}) {
                    if (near.work() >= settings.work) return comparisons;
                    if (progress.cancelled()) throw Interrupted();
                    std::vector<double> trial = parameters;
                    trial[k] += sign * scale * settings.step[k];
                    const Spans spans = spans_of(trial);
                    ++comparisons;
                    if (!(near.change(spans) < -settings.least)) continue;
                    near.rebase(spans);
                    parameters = trial;
                    improved = true;
                    break;
                }
            }
        }
    }
    return comparisons;
}

}  // namespace kandinsky::partition::genann
