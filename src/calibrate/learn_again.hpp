#pragma once

#include <memory>

#include "calibrate/calibration_run.hpp"
#include "calibrate/choose.hpp"
#include "core/data/dataset_access.hpp"
#include "partition/evidence.hpp"

namespace kandinsky {

/// Learns again from all groups of a run except one, without a checkpoint. The methods are given by the
/// options or chosen again from these groups. Collective.
struct LearnAgain {
    /// `places`: [image] the number of its group.
    LearnAgain(const CalibrationRun& all, std::uint32_t group, const std::vector<std::uint32_t>& places,
               const CalibrateOptions& asked, std::size_t strata, const Progress& progress)
        : muted(progress),
          options(asked),
          data(others(all.data(), group, places)),
          run(data, {without_promise(options)}, muted),
          choices(strata) {
        for (Choice& one : choices) one.method = options.method.name;
        if (has_choice(options)) choices = std::move(choose(data, run.census(), {options}, muted).front());
    }

    Muted muted;
    CalibrateOptions options;  ///< without a promise
    Dataset data;
    CalibrationRun run;
    std::vector<Choice> choices;  ///< [stratum]

  private:
    static const CalibrateOptions& without_promise(CalibrateOptions& options) {
        options.promise = Promise::none;
        return options;
    }
    static Dataset others(const Dataset& data, std::uint32_t group,
                          const std::vector<std::uint32_t>& places) {
        std::vector<std::uint32_t> images;
        for (std::uint32_t image = 0; image < places.size(); ++image)
            if (places[image] != group) images.push_back(image);
        return as_rank_part(data.subset(images), std::make_shared<Team>(Team{.comm = team_of(data).comm}));
    }
};

/// Whether any group except one has scores in some stratum.
[[nodiscard]] inline bool others_have_scores(const std::vector<partition::Evidence>& evidence,
                                             std::uint32_t group) {
    for (const partition::Evidence& one : evidence)
        for (const partition::Evidence::Image& image : one.images())
            if (image.group != group && !image.scores.empty()) return true;
    return false;
}

}  // namespace kandinsky
