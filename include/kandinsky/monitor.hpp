#pragma once

#include <filesystem>
#include <kandinsky/export.hpp>
#include <kandinsky/reference.hpp>
#include <optional>
#include <string>

namespace KANDINSKY_API kandinsky {

/// The rule for images whose outputs are among the last 4096 different outputs of the stream.
enum class Seen {
    count,  ///< they count again
    skip,   ///< they are left out, but their new labels count
};

/// The options of a Monitor.
struct MonitorOptions {
    /// Largest probability that a false alarm is ever raised, separately for outputs and for labels.
    double delta = 0.01;
    double alpha = 0.1;  ///< level of the sets whose coverage is tested on labelled images
};

/// A feature of a class that is watched, in the whole image or in one region.
struct WatchedFeature {
    std::size_t cls = 0;    ///< the class
    std::string name;       ///< of the feature
    bool regional = false;  ///< the feature is the area in the region of `rows` and `columns`
    PixelRange rows{};      ///< of the region
    PixelRange columns{};   ///< of the region
    double evidence = 0;    ///< weighted martingale: the alarm for outputs is raised at 1 / delta
    double direction = 0;   ///< recent values: from -1 (all below the reference) to 1 (all above)
    double before = 0;      ///< median of the calibration images
    double now = 0;         ///< mean of about the last 20 units
};

/// The coverage of one class, from labels.
struct WatchedCoverage {
    std::size_t cls = 0;      ///< the class
    std::uint64_t units = 0;  ///< images (or groups) with labelled pixels of the class
    double coverage = 0;      ///< mean share of the class's pixels whose set contains the class
    double low = 0;           ///< lower bound of the true coverage, see `high`
    /// Upper bound; if the true coverage stays the same, both hold at all times with probability at least
    /// 1 - delta. Both are NaN once no constant coverage is possible: it has changed.
    double high = 1;
    double limit = 0;     ///< the alarm for coverage means that the true coverage is below this
    double evidence = 0;  ///< betting e-process: the alarm for coverage is raised at 1 / delta
    /// Weighted martingale: the alarm for odds is raised at 1 / delta. NaN: the reference has no labels.
    double odds_evidence = 0;
    double odds_share = 0;   ///< share of the class's own pixels that reach odds_before or odds_now
    double odds_before = 0;  ///< log2 of the odds that this share reaches, median of the calibration images
    double odds_now = 0;     ///< the same, mean of about the last 20 units
};

/// The first alarm.
struct Alarm {
    std::uint64_t unit = 0;  ///< number of the image (or group) in its stream, from 1
    std::size_t what = 0;    ///< index into the features or the coverage of MonitorVerdict
};

/// The state of the stream.
struct MonitorVerdict {
    MonitorOptions options{};           ///< of the stream
    bool grouped = false;               ///< units are groups
    std::uint64_t reference_units = 0;  ///< of the calibration
    std::uint64_t images = 0;           ///< images seen, without those left out
    std::uint64_t units = 0;            ///< units whose outputs were judged
    std::uint64_t labelled_units = 0;   ///< units whose labels were judged
    double set_size = 0;                ///< recent mean number of classes in a set; NaN: not measured yet
    std::vector<WatchedFeature> features{};   ///< [feature], as the reference has them
    std::vector<WatchedCoverage> coverage{};  ///< classes with labels so far
    std::optional<Alarm> outputs{};           ///< the outputs have changed
    std::optional<Alarm> labels{};            ///< coverage of a class is below the limit
    std::optional<Alarm> odds{};  ///< a class has lower odds in its own pixels than at calibration
    std::size_t leading = 0;      ///< the feature with the most evidence

    [[nodiscard]] bool alarm() const { return outputs || labels || odds; }  ///< some alarm was raised
};

/// The result of one update.
struct MonitorUpdate {
    std::uint64_t images = 0;    ///< images given
    std::uint64_t seen = 0;      ///< images whose outputs were seen before
    std::uint64_t late = 0;      ///< images left out because their group had been judged
    std::uint64_t units = 0;     ///< units judged now by their outputs
    std::uint64_t labelled = 0;  ///< units judged now by their labels
};

/// The course of the stream, thinned: each point covers `stride` units.
struct MonitorCourse {
    std::uint64_t stride = 1;                ///< units of a point; the last may have fewer
    std::uint64_t units = 0;                 ///< in all
    std::vector<std::string> columns{};      ///< what the numbers are
    std::vector<std::vector<float>> rows{};  ///< [point][column]; NaN where there is nothing
};

/// Watches a stream of new images: tests whether their outputs are like those of the calibration images and,
/// with labels, whether coverage and the odds of classes in their own pixels are kept. The unit is the image,
/// or the group if the calibration images had groups; a group is tested when the next one begins, or by
/// complete(). The order of the images matters: an update takes its images group by group, in the order of
/// the groups' first images, and leaves out images of the last 4096 groups tested. The state does not depend
/// on the number of threads. If the images of a group follow one another, it does not depend on the division
/// of the images into updates either. Not thread-safe: one call at a time. docs/monitoring.md states the
/// guarantee.
class Monitor {
  public:
    /// Starts a stream; `reference` is that of the calibrator. Throws a usage error for bad options.
    Monitor(const Calibrator& calibrator, const Reference& reference, const MonitorOptions& options = {});
    /// Continues a stream from its file. Throws a data error if the file is damaged or belongs to another
    /// calibrator.
    Monitor(const Calibrator& calibrator, const Reference& reference, const std::filesystem::path& path);
    ~Monitor();
    Monitor(Monitor&& other) noexcept;             ///< `other` may only be destroyed or assigned to
    Monitor& operator=(Monitor&& other) noexcept;  ///< `other` may only be destroyed or assigned to

    /// Adds images, with or without labels. Pixels with an ignored label do not count, so an image whose
    /// labels are all ignored counts as unlabelled. Throws a data error if grid or classes differ or a value
    /// is bad (those of classes that are not watched need not be read), and a usage error if only the images
    /// or only the calibration images have groups. If it throws, nothing is changed.
    MonitorUpdate update(const Dataset& images, Seen seen = Seen::count, Progress& progress = silent());
    /// Tests the group that is still open, if there is one.
    void complete();

    [[nodiscard]] const MonitorOptions& options() const;  ///< of the stream
    [[nodiscard]] MonitorVerdict verdict() const;         ///< so far
    [[nodiscard]] MonitorCourse outputs_course() const;   ///< of outputs: evidence, set size, features
    /// Of labels: coverage with its bounds, which are NaN once no constant coverage is possible.
    [[nodiscard]] MonitorCourse labels_course() const;
    /// The recent difference of the outputs from the reference, float [class][pixel], constant in each
    /// region: from -1 (less of the class than in all calibration images) to 1 (more). NaN for classes that
    /// are not watched, and everywhere if there are no regions.
    [[nodiscard]] std::vector<float> change_map() const;
    /// Writes the state, less than 1 MB whatever the stream's length. Atomic; equal states give equal bytes.
    void save(const std::filesystem::path& path) const;

  private:
    friend struct MonitorAccess;
    struct State;
    std::unique_ptr<State> state_;
};

/// The verdict as text: one sentence for the outputs, one for each class with labels. `names`: of the
/// classes; empty: their numbers.
[[nodiscard]] std::vector<std::string> describe(const MonitorVerdict& verdict,
                                                const std::vector<std::string>& names = {});

}  // namespace kandinsky
