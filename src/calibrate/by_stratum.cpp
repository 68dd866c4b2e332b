#include "calibrate/by_stratum.hpp"

#include <algorithm>
#include <map>

#include "calibrate/choose.hpp"

namespace kandinsky {

namespace {
/// The options of the method that a stratum got.
CalibrateOptions settled(CalibrateOptions options, const Choice& choice) {
    options.method = choice.method;
    for (const auto& [flag, value] : choice.tuned) options.settings.text[flag] = value;
    return options;
}
}  // namespace

Calibrator calibrate_by_stratum(const CalibrateOptions& options, std::vector<Choice> choices,
                                const DataSplit* data_split, const CalibrationRuns& runs) {
    const Grid& grid = runs.all.data().grid();
    const std::size_t strata = choices.size();
    std::vector<CalibrateOptions> own;
    std::vector<Partition> partitions;
    std::vector<bool> soft, pixelwise;
    std::map<std::string, std::vector<std::uint32_t>> soft_strata;  // of each soft method with its options
    std::size_t curves_wanted = 0;
    for (std::size_t s = 0; s < strata; ++s) {
        const Method& how = method(choices[s].method);
        own.push_back(settled(options, choices[s]));
        soft.push_back(how.fit_curves != nullptr);
        if (how.uses_features) runs.finder.find_features();
        partitions.push_back(soft[s] ? whole_image(grid) : runs.finder.region_of(own[s], s));
        pixelwise.push_back(!soft[s] && is_pixelwise(partitions[s]));
        curves_wanted += soft[s] ? grid.pixels() : partitions[s].regions;
        if (soft[s])
            soft_strata[label_of(choices[s].method, choices[s].tuned)].push_back(
                static_cast<std::uint32_t>(s));
    }
    // All curves of a calibrator stand on one ladder.
    const CurveRule rule = rule_for(options, curves_wanted);
    const auto some = [](const std::vector<bool>& flags) {
        return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    std::vector<bool> by_region;
    std::vector<Partition> wanted;  // strata that get their curves elsewhere stand in as one region
    for (std::size_t s = 0; s < strata; ++s) {
        by_region.push_back(!soft[s] && !pixelwise[s]);
        wanted.push_back(by_region[s] ? partitions[s] : whole_image(grid));
    }
    std::vector<CurveSet> regions, pixels, curves;
    if (some(pixelwise)) pixels = runs.setter.pixel_curves(rule);
    if (some(by_region)) regions = runs.setter.region_curves(wanted, rule);
    for (std::size_t s = 0; s < strata; ++s)
        curves.push_back(soft[s] ? CurveSet(rule.ladder, rule.released)
                                 : std::move(pixelwise[s] ? pixels[s] : regions[s]));
    std::vector<SmoothCurves> smooth(some(soft) ? strata : 0);
    for (const auto& [label, those] : soft_strata) {
        std::vector<SoftCurves> made =
            runs.all.soft_curves(own[those.front()], those, data_split, rule.ladder);
        for (std::size_t i = 0; i < those.size(); ++i) {
            partitions[those[i]] = std::move(made[i].partition);
            smooth[those[i]] = std::move(made[i].curves);
        }
    }
    Calibrator calibrator =
        runs.setter.finish(options, std::move(partitions), std::move(curves), std::move(smooth));
    calibrator.choices = std::move(choices);
    return calibrator;
}

}  // namespace kandinsky
