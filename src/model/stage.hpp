#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kandinsky {

/// One step of an experiment: it makes files in the run's folder out of what came before. A note NAME.done
/// beside them says what they were made from and how they looked, so that a later run can tell whether they
/// are still the right ones.
struct Stage {
    std::string name;
    std::string recipe;                ///< everything that the outputs depend on, as text
    std::vector<std::string> outputs;  ///< names within the folder
    std::function<void()> work;
};

/// Whether the stage's note is there, was written for this recipe, and all outputs are as it says (size and
/// CRC-32).
[[nodiscard]] bool is_done(const std::filesystem::path& folder, const Stage& stage);

/// Does the stage's work unless it is done; true when there was something to do. The recipe of a later stage
/// should contain this one's.
bool run_stage(const std::filesystem::path& folder, const Stage& stage);

}  // namespace kandinsky
