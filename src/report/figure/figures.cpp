#include "report/figure/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include "partition/fourier_curves.hpp"

#include "report/data/blob.hpp"
#include "report/data/pixel_curves.hpp"
#include "report/figure/palette.hpp"
#include "report/figure/svg.hpp"
#include "report/figure/weights.hpp"
#include "report/table/result_json.hpp"

namespace kandinsky {

namespace {
using Files = std::vector<std::pair<std::string, std::string>>;
constexpr std::uint8_t kNone = 255;

std::size_t zoom_of(const Grid& grid) {
    return std::max<std::size_t>(1, (640 + grid.width / 2) / grid.width);
}

std::vector<Rgb> palette_of(const Ramp& ramp) {
    std::vector<Rgb> palette(ramp.begin(), ramp.end());
    palette[kNone] = kNoData;  // 255; the highest code of a map is 254
    palette[254] = ramp[255];
    return palette;
}

std::string map_png(const std::vector<double>& map, double top, const Grid& grid, Scheme scheme) {
    std::vector<std::uint8_t> codes(map.size());
    for (std::size_t p = 0; p < map.size(); ++p) codes[p] = quantised(map[p], top);
    return palette_png(codes, grid, palette_of(ramp_of(scheme)), zoom_of(grid));
}

std::string colour_bar(Scheme scheme, double low, double high, const std::string& label) {
    SvgPlot plot(420, 90, 1, 1);
    for (std::size_t i = 0; i < 64; ++i) {
        const Rgb& c = ramp_of(scheme)[i * 255 / 63];
        const double x = static_cast<double>(i) / 64,
                     next = std::min(
                         1.0,
                         (static_cast<double>(i) + 1.5) / 64);  // segments overlap, so that there are no gaps
        plot.area({{x, 0}, {next, 0}, {next, 1}, {x, 1}},
                  fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]), 1);
    }
    plot.x_axis(label, {{0, fmt::format("{:.3g}", low)}, {1, fmt::format("{:.3g}", high)}});
    return plot.text();
}

const std::vector<double>& errors(const ReportInput& input, std::size_t m, std::size_t s) {
    return input.evaluation->calibrators[m].strata[s].ce_map;
}

/// The upper end of the colour scale of error maps: the 0.99 quantile over all methods, rounded up.
double error_top(const ReportInput& input, std::size_t s) {
    std::vector<double> all;
    for (std::size_t m = 0; m < input.calibrators.size(); ++m)
        for (const double value : errors(input, m, s))
            if (std::isfinite(value)) all.push_back(value);
    return all.empty() ? 1 : round_up(quantile(std::move(all), 0.99));
}

std::string coverage_svg(const ReportInput& input, const Tally& tally, std::size_t s) {
    SvgPlot plot(480, 420, 1, 1);
    plot.x_axis("wanted coverage, 1 - alpha", even_ticks(1));
    plot.y_axis("coverage on the test images", even_ticks(1));
    plot.line({{0, 0}, {1, 1}}, "#1b1f24", 1, true);
    std::vector<std::pair<std::string, std::string>> legend;
    for (std::size_t m = 0; m < input.names.size(); ++m) {
        Points points;
        const auto samples = static_cast<double>(input.evaluation->calibrators[m].strata[s].samples);
        for (std::size_t l = 0; l < kSliderLevels && samples > 0; ++l)
            points.emplace_back(static_cast<double>(l + 1) / 100,
                                static_cast<double>(tally.methods[m].covered[s][l]) / samples);
        plot.line(points, method_colour(m));
        legend.emplace_back(input.names[m], method_colour(m));
    }
    plot.legend(legend);
    return plot.text();
}

std::string reliability_svg(const Reliability& bins) {
    SvgPlot plot(480, 420, 1, 1);
    plot.x_axis("probability the model gives", even_ticks(1));
    plot.y_axis("share of pixels that have the class", even_ticks(1));
    for (std::size_t b = 0; b < Reliability::kBins; ++b) {
        if (bins.count[b] == 0) continue;
        const double low = static_cast<double>(b) / 20, high = static_cast<double>(b + 1) / 20;
        const double accuracy = bins.accuracy[b], confidence = bins.confidence[b];
        plot.area({{low, 0}, {high, 0}, {high, accuracy}, {low, accuracy}}, "#0072b2", 0.25);
        plot.line({{confidence, confidence}, {confidence, accuracy}}, "#d55e00", 1.5);
        plot.dot(confidence, accuracy, "#0072b2");
    }
    plot.line({{0, 0}, {1, 1}}, "#1b1f24", 1, true);
    plot.note(0.03, 0.93, fmt::format("ECE = {:.4f}", bins.ece));
    return plot.text();
}

/// The smoothed density of the values up to `top` at 128 points of [0, top], scaled to a largest value of 1.
std::vector<double> density(const std::vector<double>& values, double top) {
    constexpr std::size_t kBins = 128;
    constexpr double kSigma = 2.5;
    std::vector<double> histogram(kBins, 0), out(kBins, 0);
    for (const double value : values)
        if (std::isfinite(value) && value <= top)
            histogram[std::min(kBins - 1, static_cast<std::size_t>(value / top * kBins))] += 1;
    for (std::size_t i = 0; i < kBins; ++i)
        for (std::size_t j = 0; j < kBins; ++j) {
            const double gap = (static_cast<double>(i) - static_cast<double>(j)) / kSigma;
            out[i] += histogram[j] * std::exp(-0.5 * gap * gap);
        }
    const double most = *std::max_element(out.begin(), out.end());
    for (double& value : out) value = most > 0 ? value / most : 0;
    return out;
}

std::string violins_svg(const ReportInput& input, std::size_t s, double top) {
    const auto methods = static_cast<double>(input.names.size());
    SvgPlot plot(120 + 120 * methods, 380, methods, top);
    std::vector<std::pair<double, std::string>> names;
    for (std::size_t m = 0; m < input.names.size(); ++m)
        names.emplace_back(static_cast<double>(m) + 0.5, input.names[m]);
    plot.x_axis("", names);
    plot.y_axis("coverage error CE of a pixel", even_ticks(top));
    for (std::size_t m = 0; m < input.names.size(); ++m) {
        const StratumEvaluation& one = input.evaluation->calibrators[m].strata[s];
        if (!std::isfinite(one.mean_ce)) continue;
        const std::vector<double> widths = density(one.ce_map, top);
        const double middle = static_cast<double>(m) + 0.5;
        Points outline;
        const auto height = [&](std::size_t i) {
            return (static_cast<double>(i) + 0.5) / static_cast<double>(widths.size()) * top;
        };
        for (std::size_t i = 0; i < widths.size(); ++i)
            outline.emplace_back(middle + 0.42 * widths[i], height(i));
        for (std::size_t i = widths.size(); i-- > 0;)
            outline.emplace_back(middle - 0.42 * widths[i], height(i));
        plot.area(outline, method_colour(m), 0.55);
        plot.line({{middle, one.q05}, {middle, std::min(one.q95, top)}}, "#1b1f24", 1.5);
        plot.dot(middle, std::min(one.mean_ce, top), "#1b1f24", 4);
    }
    const double floor = input.evaluation->calibrators.front().strata[s].floor;
    if (std::isfinite(floor) && floor <= top) {
        plot.line({{0, floor}, {methods, floor}}, "#1b1f24", 1, true);
        plot.note(0.03, floor, "sampling floor");
    }
    return plot.text();
}

/// The map of the regions of `behind` and, drawn over it as vectors, the curves of `own` if it has shapes.
std::string regions_svg(const Calibrator& own, const Calibrator& behind, std::size_t s) {
    const Grid grid = own.grid;
    const Partition& shown = behind.partitions[s];
    // If there are more regions than colours, regions with consecutive numbers share a colour.
    const std::size_t places = std::min<std::size_t>(256, shown.regions);
    std::vector<Rgb> palette;
    for (std::size_t r = 0; r < places; ++r) palette.push_back(region_colour(r, places));
    std::vector<std::uint8_t> codes(grid.pixels());
    for (std::size_t p = 0; p < codes.size(); ++p)
        codes[p] = static_cast<std::uint8_t>(std::uint64_t{shown.region[p]} * places / shown.regions);
    const std::string png = palette_png(codes, grid, palette, 1);
    const std::string data = base64({reinterpret_cast<const std::uint8_t*>(png.data()), png.size()});
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n"
        "<image width=\"{}\" height=\"{}\" style=\"image-rendering: pixelated\" "
        "href=\"data:image/png;base64,{}\"/>\n",
        grid.width * zoom_of(grid), grid.height * zoom_of(grid), grid.width, grid.height, grid.width,
        grid.height, data);
    for (const auto& curve : shape_curves(own.partitions[s].geometry)) {
        std::string path;
        for (const auto& [x, y] : curve)
            path += fmt::format("{}{:.2f},{:.2f}", path.empty() ? "M" : "L", x + 0.5, y + 0.5);
        for (const auto& [colour, width] : {std::pair{"#ffffff", 3.0}, std::pair{"#111111", 1.4}})
            out += fmt::format(
                "<path d=\"{}Z\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
                "vector-effect=\"non-scaling-stroke\"/>\n",
                path, colour, width);
    }
    return out + "</svg>\n";
}

void add_maps(const ReportInput& input, std::size_t s, const std::string& suffix, Files& files) {
    const Grid grid = input.test->grid();
    const double top = error_top(input, s);
    std::size_t best = 0;
    const auto mean = [&](std::size_t m) { return input.evaluation->calibrators[m].strata[s].mean_ce; };
    for (std::size_t m = 0; m < input.names.size(); ++m) {
        if (mean(m) < mean(best)) best = m;
        files.emplace_back(fmt::format("ce_{}_{}.png", input.names[m], suffix),
                           map_png(errors(input, m, s), top, grid, Scheme::error));
    }
    files.emplace_back(fmt::format("ce_scale_{}.svg", suffix),
                       colour_bar(Scheme::error, 0, top, "coverage error"));
    for (std::size_t m = 0; m < input.names.size(); ++m) {
        if (m == best) continue;
        std::vector<double> difference(grid.pixels()), sizes;
        for (std::size_t p = 0; p < difference.size(); ++p) {
            difference[p] = errors(input, best, s)[p] - errors(input, m, s)[p];
            if (std::isfinite(difference[p])) sizes.push_back(std::abs(difference[p]));
        }
        if (sizes.empty()) continue;
        const double end = round_up(quantile(std::move(sizes), 0.99));
        for (double& value : difference) value = (value + end);
        const std::string pair = fmt::format("{}_minus_{}_{}", input.names[best], input.names[m], suffix);
        files.emplace_back("difference_" + pair + ".png",
                           map_png(difference, 2 * end, grid, Scheme::difference));
        files.emplace_back(
            "difference_scale_" + pair + ".svg",
            colour_bar(Scheme::difference, -end, end, "CE difference; red: the first is better"));
    }
}

std::string safe_name(const std::string& text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    std::string out = text;
    for (char& letter : out) letter = kPlain.find(letter) == std::string_view::npos ? '-' : letter;
    return out;
}
}  // namespace

std::vector<std::vector<std::pair<double, double>>> shape_curves(const std::string& geometry) {
    const auto shape = nlohmann::ordered_json::parse(geometry);
    std::vector<std::vector<std::pair<double, double>>> out;
    const std::string kind = shape.value("kind", "");
    if (kind != "fourier" && kind != "annuli") return out;
    const double cx = shape.at("centre_px").at(0).get<double>(),
                 cy = shape.at("centre_px").at(1).get<double>();
    constexpr std::size_t kSteps = 360;
    const auto draw = [&](auto&& point) {
        auto& curve = out.emplace_back();
        for (std::size_t i = 0; i < kSteps; ++i)
            curve.push_back(point(2 * std::numbers::pi * static_cast<double>(i) / kSteps));
    };
    if (kind == "fourier") {
        FourierCurves curves{cx, cy, shape.at("scale").get<double>(), shape.at("order").get<std::uint32_t>(),
                             shape.at("coefficients").get<std::vector<std::vector<double>>>()};
        for (std::size_t c = 0; c < curves.coefficients.size(); ++c)
            draw([&](double turn) {
                const double r = curves.radius(c, turn);
                return std::pair(cx + r * std::cos(turn), cy + r * std::sin(turn));
            });
        return out;
    }
    const double stretch = std::sqrt(shape.value("axis_ratio", 1.0)), angle = shape.value("angle", 0.0);
    for (const double radius : shape.at("radii").get<std::vector<double>>())
        draw([&](double turn) {
            // The angle is counter-clockwise with y up, but rows point down.
            const double u = radius * stretch * std::cos(turn), v = radius / stretch * std::sin(turn);
            return std::pair(cx + u * std::cos(angle) - v * std::sin(angle),
                             cy - (u * std::sin(angle) + v * std::cos(angle)));
        });
    return out;
}

Files figures(const ReportInput& input, const Tally& tally) {
    Files files;
    const Grid grid = input.test->grid();
    const bool pooled = input.calibrators.front()->options.condition == Condition::none;
    for (std::size_t s = 0; s < input.calibrators.front()->strata(); ++s) {
        if (!is_wanted(pooled ? -1 : static_cast<int>(s), input.classes)) continue;
        const std::string suffix = pooled ? "all" : fmt::format("class{}", s);
        add_maps(input, s, suffix, files);
        files.emplace_back(fmt::format("coverage_{}.svg", suffix), coverage_svg(input, tally, s));
        files.emplace_back(fmt::format("violins_{}.svg", suffix), violins_svg(input, s, error_top(input, s)));
        const Calibrator* clusters = nullptr;
        for (const Calibrator* calibrator : input.calibrators)
            if (calibrator->options.method.name == "kmeans") clusters = calibrator;
        for (std::size_t m = 0; m < input.names.size(); ++m) {
            const Calibrator& own = *input.calibrators[m];
            if (const auto weights = weight_columns(own.partitions[s].geometry); !weights.empty())
                files.emplace_back(fmt::format("weights_{}_{}.svg", input.names[m], suffix),
                                   weights_svg(weights));
            if (own.partitions[s].regions < 2 || many_curves(own, s)) continue;
            const bool shaped = !shape_curves(own.partitions[s].geometry).empty();
            files.emplace_back(fmt::format("regions_{}_{}.svg", input.names[m], suffix),
                               regions_svg(own, shaped && clusters != nullptr ? *clusters : own, s));
        }
    }
    for (std::size_t c = 0; c < input.test->classes(); ++c) {
        if (!is_wanted(static_cast<int>(c), input.classes)) continue;
        std::vector<double> share(grid.pixels());
        for (std::size_t p = 0; p < share.size(); ++p)
            share[p] = static_cast<double>(tally.samples[c * grid.pixels() + p]) /
                       static_cast<double>(tally.labelled[p]);
        files.emplace_back(fmt::format("prevalence_class{}.png", c), map_png(share, 1, grid, Scheme::share));
        files.emplace_back(fmt::format("reliability_class{}.svg", c),
                           reliability_svg(input.evaluation->probabilities.classes[c]));
    }
    for (std::size_t m = 0; m < input.names.size(); ++m) {
        std::vector<double> sizes(grid.pixels());
        for (std::size_t p = 0; p < sizes.size(); ++p)
            sizes[p] =
                static_cast<double>(tally.methods[m].set_sums[p]) / static_cast<double>(tally.labelled[p]);
        files.emplace_back(fmt::format("set_size_{}.png", input.names[m]),
                           map_png(sizes, static_cast<double>(input.test->classes()), grid, Scheme::share));
    }
    for (auto& [name, bytes] : files) name = safe_name(name);
    return files;
}

}  // namespace kandinsky
