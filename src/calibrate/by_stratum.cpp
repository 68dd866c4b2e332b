#include "calibrate/by_stratum.hpp"

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
    std::vector<bool> soft;
    bool any_hard = false, any_pixelwise = false;
    for (const Choice& choice : choices) {
        own.push_back(settled(options, choice));
        soft.push_back(method(choice.method).fit_curves != nullptr);
        if (method(choice.method).uses_features) runs.finder.find_features();
    }
    std::vector<Partition> partitions;
    std::map<std::string, std::vector<std::uint32_t>> soft_strata;  // of each soft method with its options
    std::size_t curves_wanted = 0;
    for (std::size_t s = 0; s < strata; ++s) {
        partitions.push_back(soft[s] ? whole_image(grid) : runs.finder.region_of(own[s], s));
        curves_wanted += soft[s] ? grid.pixels() : partitions[s].regions;
        if (soft[s])
            soft_strata[label_of(choices[s].method, choices[s].tuned)].push_back(
                static_cast<std::uint32_t>(s));
        any_hard = any_hard || !soft[s];
        any_pixelwise = any_pixelwise || (!soft[s] && is_pixelwise(partitions[s]));
    }
    // All curves of a calibrator stand on one ladder.
    const CurveRule rule = rule_for(options, curves_wanted);
    std::vector<CurveSet> regions, pixels, curves;
    if (any_pixelwise) pixels = runs.setter.pixel_curves(rule);
    if (any_hard) {
        // Strata that get their curves elsewhere stand in as one region.
        std::vector<Partition> wanted = partitions;
        for (Partition& one : wanted)
            if (is_pixelwise(one)) one = whole_image(grid);
        regions = runs.setter.region_curves(wanted, rule);
    }
    for (std::size_t s = 0; s < strata; ++s)
        curves.push_back(soft[s] ? CurveSet(rule.ladder, rule.released)
                                 : std::move(is_pixelwise(partitions[s]) ? pixels[s] : regions[s]));
    std::vector<SmoothCurves> smooth(strata);
    for (const auto& [label, wanted] : soft_strata) {
        std::vector<SoftCurves> made =
            runs.all.soft_curves(own[wanted.front()], wanted, data_split, rule.ladder);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            partitions[wanted[i]] = std::move(made[i].partition);
            smooth[wanted[i]] = std::move(made[i].curves);
        }
    }
    Calibrator calibrator =
        runs.setter.finish(options, std::move(partitions), std::move(curves), std::move(smooth));
    calibrator.choices = std::move(choices);
    return calibrator;
}

}  // namespace kandinsky
