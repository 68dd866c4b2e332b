#pragma once

#include <kandinsky/array.hpp>
#include <kandinsky/export.hpp>
#include <map>
#include <optional>

namespace KANDINSKY_API kandinsky {

// The options of each method, with the defaults of the command. docs/methods.md explains them.

/// Method pixel: every pixel has its own curve.
struct PixelOptions {};

/// Method image: all pixels share one curve.
struct ImageOptions {};

/// Method mask: regions that you give.
struct MaskOptions {
    Array mask{};  ///< region numbers, integers [H,W], or [C,H,W] for regions by class
};

/// Method kmeans: pixels with similar curves, wherever they lie.
struct KmeansOptions {
    std::optional<std::uint32_t> clusters{};  ///< regions, 1 to 4096; absent: chosen for each class
    std::uint32_t restarts = 10;              ///< independent starts, 1 to 1000; the best result is kept
};

/// Method genann: concentric rings.
struct GenannOptions {
    /// The shape of the rings.
    enum class Shape {
        ellipse,  ///< one axis ratio and angle for all
        circle,   ///< the paper's
    };
    /// The distance between the curves of two pixels.
    enum class Metric {
        euclidean,    ///< the paper's
        sqeuclidean,  ///< its square
        manhattan,    ///< sum of absolute differences
    };
    /// The bounds of the search.
    enum class Bounds {
        automatic,  ///< by the size of the grid
        coco,       ///< the paper's, in pixels
        decathlon,  ///< the paper's, in pixels
    };
    /// The weight of a pixel.
    enum class Weights {
        none,    ///< equal for all
        counts,  ///< its number of scores
    };

    Shape shape = Shape::ellipse;          ///< of the rings
    std::optional<std::uint32_t> radii{};  ///< 1 to 16, one less than regions; none: chosen for each class
    Metric metric = Metric::euclidean;     ///< the distance that is minimised
    Bounds bounds = Bounds::automatic;     ///< of the search
    std::uint32_t population = 0;          ///< 4 to 10000; 0: 6 per parameter, at least 60
    std::uint32_t generations = 400;       ///< largest number, 0 to 1000000
    Weights weights = Weights::none;       ///< of pixels
};

/// Method fcc: nested Fourier curves.
struct FccOptions {
    /// The limit of the outermost curve.
    enum class Limit {
        rectangle,  ///< the image
        circle,     ///< the paper's inscribed circle
    };
    /// The centre of the curves.
    enum class Centre {
        free,    ///< found together with the curves
        middle,  ///< of the image, the paper's
    };
    /// The weights of the regions' variances.
    enum class Variance {
        area,  ///< the region's share of the image
        mean,  ///< equal for all, the paper's
    };

    std::optional<std::uint32_t> curves{};  ///< 1 to 16, one less than regions; none: chosen for each class
    std::uint32_t order = 8;                ///< of the Fourier series, 1 to 32
    Limit limit = Limit::rectangle;         ///< of the outermost curve
    Centre centre = Centre::free;           ///< of all curves
    Variance variance = Variance::area;     ///< what is minimised
    std::optional<double> penalty{};        ///< weight of the nesting penalty; none: 1e-4 for area, else 1e-3
    std::uint32_t angles = 96;       ///< angles of the quadrature, 8 to 4096; at least 4 * order are used
    std::uint32_t nodes = 12;        ///< nodes of the quadrature per ray and region, 1 to 128
    std::uint32_t starts = 4;        ///< independent starts, 1 to 1000; the best result is kept
    std::uint32_t iterations = 150;  ///< largest number per start and level of blur
};

/// Method field, the default: a curve for every pixel, with weighted scores of other pixels.
struct FieldOptions {
    /// How groups are assigned to the folds of the cross-validation.
    enum class FoldOrder {
        content,     ///< by group id or image content
        contiguous,  ///< by position, for video
    };

    std::uint32_t folds = 5;                    ///< of the cross-validation, 2 to 200
    FoldOrder fold_order = FoldOrder::content;  ///< of the groups
    /// How much thresholds depend on the place, from 0 (one threshold and the smallest sets) to 1 (the right
    /// coverage at every place).
    double place = 1;
    bool support = true;               ///< blend with the image-wide distribution where data are few
    bool rings = true;                 ///< share between pixels where the class is equally common
    bool mirror = true;                ///< share between a pixel and its left-right mirror image
    std::vector<double> bandwidths{};  ///< of the kernels in pixels; none: by the size of the grid
    std::uint32_t bins = 128;          ///< number of bins for the scores, 8 to 256
};

/// The values of options as text, in the form of the command line; absent options have their defaults.
struct MethodSettings {
    std::map<std::string, std::string> text{};  ///< flag, as "kmeans-clusters" -> value
    std::map<std::string, Array> arrays{};      ///< flag -> array
};

/// The method of a calibration with its options: `.method = KmeansOptions{.clusters = 4}`, or a name alone.
/// Values out of range are refused by calibrate().
struct MethodChoice {
    std::string name;           ///< one of method_names()
    MethodSettings settings{};  ///< values other than the defaults

    MethodChoice();                              ///< default_method()
    MethodChoice(const char* method);            ///< one of method_names()
    MethodChoice(std::string method);            ///< one of method_names()
    MethodChoice(std::string_view method);       ///< one of method_names()
    MethodChoice(const PixelOptions& options);   ///< method pixel
    MethodChoice(const ImageOptions& options);   ///< method image
    MethodChoice(const MaskOptions& options);    ///< method mask
    MethodChoice(const KmeansOptions& options);  ///< method kmeans
    MethodChoice(const GenannOptions& options);  ///< method genann
    MethodChoice(const FccOptions& options);     ///< method fcc
    MethodChoice(const FieldOptions& options);   ///< method field
};

/// The name that stands for the best method of each class by cross-validation.
inline constexpr std::string_view kAutoMethod = "auto";

[[nodiscard]] std::string default_method();  ///< the name of the default method
/// The valid names: those of the methods, then kAutoMethod.
[[nodiscard]] std::vector<std::string> method_names();
/// Throws a usage error that lists method_names() unless the name is one of them.
void check_method(std::string_view name);

}  // namespace kandinsky
