#pragma once

#include <functional>
#include <kandinsky/grid.hpp>
#include <kandinsky/methods.hpp>
#include <kandinsky/partition.hpp>
#include <kandinsky/progress.hpp>
#include <span>

namespace kandinsky {

struct Team;

/// An option that a method declares once for command, Python and docs. Values are text, or an Array.
struct MethodOption {
    /// What the value must be.
    enum class Type {
        integer,  ///< a whole number
        real,     ///< a number
        text,     ///< a word
        array,    ///< an array, in the command a file
    };
    std::string flag;        ///< without dashes, prefixed by the method: "kmeans-clusters"
    Type type = Type::text;  ///< what the value must be
    std::string standard;    ///< default value
    std::string help;        ///< one sentence for --help
    /// The candidates for the value "auto": cross-validation chooses one for each class. Empty: no choice.
    std::vector<std::string> trials = {};
    /// The paper's value, if the default is another one. paper_settings() uses it. If there are trials, it
    /// also replaces "auto" where nothing can be cross-validated, where cross-validation compares methods
    /// (kAutoMethod), and in direct calls of `fit`.
    std::string paper = {};
};

/// The input of a method that chooses the regions of one stratum (a class, or all classes together).
struct PartitionInput {
    Grid grid;                              ///< of all images
    std::uint32_t stratum = 0;              ///< class number, 0 when classes are pooled
    std::size_t strata = 1;                 ///< number of classes, 1 when they are pooled
    std::size_t feature_count = 0;          ///< values per pixel
    std::span<const float> features;        ///< [pixel][feature]: its curve at the quantiles; 0 without data
    std::span<const std::uint32_t> counts;  ///< [pixel]: scores seen; 0 means no data, never use its features
    std::uint64_t seed = 0;                 ///< of the random numbers
    bool released = false;                  ///< reproduce the released code's edge rules
    /// Whether this is one of many fits of cross-validation, whose result is not kept: search less for nearly
    /// the same result.
    bool quick = false;
    const MethodSettings* settings = nullptr;  ///< values of the options; null: all have their defaults
    Progress* progress = nullptr;              ///< never null when called by the library
    const Team* team = nullptr;  ///< ranks that call together with the same input; null: one process
};

struct SoftInput;      // input of a soft method; internal
struct SoftCurves;     // result of a soft method; internal
struct CrossFitInput;  // input of its cross-validation; internal
struct CrossFit;

/// A calibration method. Each method's folder in src/partition defines exactly one, named kMethod; no other
/// code names it. A hard method divides the pixels into regions (`fit`). A soft method gives every pixel a
/// curve of its own, to which other pixels contribute by degrees (`fit_curves`). A method has one of the two.
struct Method {
    std::string name;            ///< as in --method
    std::string summary;         ///< one line for --help
    bool uses_features = false;  ///< it uses the features
    bool standard = false;       ///< the default method; exactly one is
    bool uses_labels = false;    ///< the regions depend on the calibration images, which affects guarantees
    bool pixelwise = false;      ///< every pixel is a region of its own
    std::vector<MethodOption> options;                         ///< its own
    std::function<Partition(const PartitionInput&)> fit = {};  ///< hard methods have it
    int order = 100;  ///< place in tables; methods with equal numbers are ordered by name
    std::function<std::vector<SoftCurves>(const SoftInput&)> fit_curves = {};  ///< soft methods have it
    std::function<CrossFit(const CrossFitInput&)> cross_fit = {};  ///< soft methods have it as well
};

[[nodiscard]] std::vector<const Method*> methods();               ///< in table order
[[nodiscard]] std::string method_summary(std::string_view name);  ///< one line for --help and reports
/// The method with that name. Throws a usage error that lists the known names.
[[nodiscard]] const Method& method(std::string_view name);

/// Reads an option of `method` from the settings, or its default. Throws a usage error that names the option
/// unless the value is a whole number from `low` to `high`.
[[nodiscard]] std::int64_t integer_option(const Method& method, const PartitionInput& input,
                                          std::string_view flag, std::int64_t low, std::int64_t high);
/// The same for a number.
[[nodiscard]] double real_option(const Method& method, const PartitionInput& input, std::string_view flag,
                                 double low, double high);
/// The same for a word; with `allowed` it must be one of these.
[[nodiscard]] std::string text_option(const Method& method, const PartitionInput& input,
                                      std::string_view flag, const std::vector<std::string>& allowed = {});

/// Gives every pixel without data the region of the nearest pixel that has data (ties: the lowest region
/// number). If no pixel has data, all pixels get region 0. Cost: at most O(pixels * width).
void extend_to_empty_pixels(const Grid& grid, std::span<const std::uint32_t> counts, Partition& partition);

/// The regions are rings numbered from the inside. Joins each ring without data to the next one inwards that
/// has data, otherwise to the next one outwards. The rings with data are numbered from 0 in their order;
/// without any data one region is left. Returns the new number of each ring.
std::vector<std::uint32_t> join_empty_rings(std::span<const std::uint32_t> counts, Partition& partition);

}  // namespace kandinsky
