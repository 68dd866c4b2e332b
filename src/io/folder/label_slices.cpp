#include "io/folder/label_slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/fail.hpp"
#include "core/base/thread_buffer.hpp"
#include "core/data/elements.hpp"
#include "io/folder/folder_dataset.hpp"

namespace kandinsky {

LabelRules label_rules(const FolderOptions& options, std::size_t planes, std::size_t count,
                       const std::function<const ItemInfo&(std::size_t)>& info) {
    LabelRules rules;
    rules.fit = options.fit;
    rules.ignore = options.ignore;
    bool pads = false;
    if (options.fit.kind == GridFit::Kind::centre)
        for (std::size_t i = 0; i < count; ++i)
            pads = pads || info(i).height < options.fit.grid.height || info(i).width < options.fit.grid.width;
    if (!pads || options.padding == Padding::background) return rules;
    if (planes > 0)
        fail(
            ErrorKind::usage,
            "masks have no ignored pixels, but `grid` pads images; use `padding background`, which pads with "
            "class 0");
    const auto byte = std::find_if(rules.ignore.begin(), rules.ignore.end(),
                                   [](std::int64_t label) { return label >= 0 && label <= 255; });
    if (byte != rules.ignore.end()) {
        rules.pad = static_cast<std::int32_t>(*byte);
    } else {
        rules.pad = std::numeric_limits<std::int32_t>::min();
        rules.ignore.push_back(rules.pad);
    }
    return rules;
}

LabelSlices::LabelSlices(const ItemInfo& info, Array values, LabelRules rules)
    : info_(info), values_(std::move(values)), rules_(std::move(rules)) {
    check_extents(info, values_);
}

bool LabelSlices::ignored(std::int32_t label) const {
    return std::find(rules_.ignore.begin(), rules_.ignore.end(), label) != rules_.ignore.end();
}

void LabelSlices::plane(std::size_t slice, std::size_t plane, std::int32_t* out) const {
    std::vector<double>& values = thread_buffer<double, struct LabelPlane>();
    values.resize(info_.grid().pixels());
    read_plane(values_.view(), slice, plane, info_.grid(), values.data());
    for (std::size_t p = 0; p < values.size(); ++p) {
        const bool whole = values[p] == std::floor(values[p]);
        if (!whole || !(values[p] >= -2147483648.0 && values[p] <= 2147483647.0))
            fail(ErrorKind::data, "{}: label {} at slice {}, row {}, column {} is {}", info_.path, values[p],
                 slice, p / info_.width, p % info_.width,
                 whole ? "outside -2147483648 to 2147483647" : "not a whole number");
        out[p] = static_cast<std::int32_t>(values[p]);
    }
}

LabelSlices::Look LabelSlices::look(std::size_t slice) const {
    Look out;
    const std::size_t pixels = info_.height * info_.width;
    std::vector<std::int32_t>& labels = thread_buffer<std::int32_t, struct LabelLook>();
    labels.resize(pixels);
    for (std::size_t c = 0; c < std::max<std::size_t>(info_.planes, 1); ++c) {
        plane(slice, c, labels.data());
        for (std::size_t p = 0; p < pixels; ++p) {
            const std::int32_t label = labels[p];
            if (p > 0 && label == labels[p - 1]) continue;
            if (info_.planes > 0) {
                if (label != 0 && label != 1)
                    fail(ErrorKind::data,
                         "{}: mask value {} at slice {}, class {}, row {}, column {} is neither 0 nor 1",
                         info_.path, label, slice, c, p / info_.width, p % info_.width);
                out.annotated = out.annotated || (label == 1 && (c > 0 || info_.planes == 1));
            } else {
                const bool left_out = ignored(label);
                if (rules_.classes > 0 && !left_out &&
                    (label < 0 || label >= static_cast<std::int64_t>(rules_.classes)))
                    fail(ErrorKind::data,
                         "{}: label {} at slice {}, row {}, column {} is not one of the {} classes (0 to {}) "
                         "nor ignored; add it to `ignore` if it marks no class",
                         info_.path, label, slice, p / info_.width, p % info_.width, rules_.classes,
                         rules_.classes - 1);
                out.annotated = out.annotated || (label != 0 && !left_out);
                out.wide = out.wide || label < 0 || label > 255;
            }
        }
    }
    return out;
}

void LabelSlices::read(std::size_t slice, std::byte* out) const {
    const Grid own = info_.grid();
    std::vector<std::int32_t>& labels = thread_buffer<std::int32_t, struct LabelRead>();
    std::vector<std::int32_t>& fitted = thread_buffer<std::int32_t, struct LabelFit>();
    labels.resize(own.pixels());
    fitted.resize(rules_.fit.grid.pixels());
    for (std::size_t c = 0; c < std::max<std::size_t>(info_.planes, 1); ++c) {
        plane(slice, c, labels.data());
        // Padding of masks has class 0. A single mask is that of class 1.
        const std::int32_t pad = info_.planes == 0 ? rules_.pad : c == 0 && info_.planes > 1 ? 1 : 0;
        fit_labels(labels.data(), own, rules_.fit, pad, fitted.data());
        const std::size_t at = c * fitted.size();
        if (rules_.wide)
            std::copy(fitted.begin(), fitted.end(), reinterpret_cast<std::int32_t*>(out) + at);
        else
            std::transform(fitted.begin(), fitted.end(), reinterpret_cast<std::uint8_t*>(out) + at,
                           [](std::int32_t label) { return static_cast<std::uint8_t>(label); });
    }
}

}  // namespace kandinsky
