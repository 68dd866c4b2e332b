#include "cli/options/weight_flags.hpp"
#include "core/data/dataset_access.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <kandinsky/npz.hpp>
#include <map>

#include "cli/options/words.hpp"
#include "core/base/fail.hpp"
#include "io/array/table_file.hpp"

namespace kandinsky::cli {

namespace {
constexpr double kMostTimesMean = 10;  // for estimated weights without another limit

std::vector<double> numbers_of(const TableFile& table, const std::string& name) {
    std::vector<double> out;
    for (const std::string& text : table.values) {
        double value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (status != std::errc() || end != text.data() + text.size())
            fail(ErrorKind::data, "{}: weight {} is '{}', which is not a number", name, out.size(), text);
        out.push_back(value);
    }
    return out;
}

/// The weights of a file, one for each image or by the image's name.
std::vector<double> read_weights(const std::string& source, const Input& images) {
    const std::size_t count = images.data.images();
    std::vector<double> given;
    if (source.ends_with(".csv")) {
        const TableFile table = read_table(source, "weight");
        given = numbers_of(table, source);
        if (!table.cases.empty()) {
            if (images.names.empty())
                fail(ErrorKind::usage,
                     "{} names files, but the images are an array; give one weight per line, in their order",
                     source);
            std::map<std::string, double> of_case;
            for (std::size_t i = 0; i < given.size(); ++i) of_case[table.cases[i]] = given[i];
            std::vector<double> all;
            for (const std::string& name : images.names) {
                const auto found = of_case.find(name);
                if (found == of_case.end())
                    fail(ErrorKind::data, "{} has no weight for {}; add a line", source, name);
                all.push_back(found->second);
            }
            return all;
        }
    } else {
        const Array array = load_array(source, {"weights", "weight"});
        if (array.shape().size() != 1)
            fail(ErrorKind::data, "{}: weights are {} {}, but must be one number for each image, [N]", source,
                 name_of(array.dtype()), array.view().shape_text());
        given = array.to_vector<double>();
    }
    if (given.size() != count)
        fail(ErrorKind::data, "{} has {} weights, but there are {} images", source, given.size(), count);
    return given;
}
}  // namespace

void WeightFlags::declare(OptionSet& app) {
    app.input("--weights", weights, "FILE",
              "weight of each calibration image, .npy [N] or .csv: how much more common images like it are "
              "among new images; equal within a group (docs/shift.md)");
    app.input("--shift-to", shift_to, "PROBS",
              "new images without labels, an array or a folder, from which weights are estimated by logistic "
              "regression on features of the outputs");
    app.input("--shift-groups", shift_groups, "FILE", "groups of the images of --shift-to, as for --groups");
    app.add_option("--max-weight", max_weight,
                   "largest weight of a calibration or new image; larger weights are reduced to it. With "
                   "--shift-to in units of the mean weight (0: the largest of --weights, or 10 with "
                   "--shift-to)");
    app.counts_unless("--weights", [this] {
        return unless(shift_to.empty(), "--shift-to estimates the weights; leave one of the two out");
    });
    app.counts_unless("--shift-groups", [this] { return unless(!shift_to.empty(), "it is for --shift-to"); });
    app.counts_unless("--max-weight", [this] {
        return unless(given(), "there are no weights without --weights or --shift-to");
    });
}

GroupWeights WeightFlags::load(const Input& images, const InputFlags& how, Progress& progress) const {
    if (!given()) return {};
    if (!shift_to.empty()) {
        InputFlags other = how;
        other.probs = shift_to, other.labels.clear(), other.groups = shift_groups;
        return learn_weights(images.data, other.load(progress).data,
                             max_weight != 0 ? max_weight : kMostTimesMean, progress);
    }
    const std::vector<double> given = read_weights(weights, images);
    GroupWeights out;
    out.bound = max_weight;
    // One entry for each row of the arrays, because an empty list would mean that there are no weights.
    out.of_row.resize(stored_probs(images.data).shape().front());
    for (std::size_t image = 0; image < given.size(); ++image) {
        if (!(given[image] >= 0) || std::isinf(given[image]))
            fail(ErrorKind::data, "{}: the weight of {} is {}, but must be finite and at least 0", weights,
                 images.names.empty() ? fmt::format("image {}", image) : images.names[image], given[image]);
        out.of_row[row_of(images.data, image)] = given[image];
    }
    return out;
}

}  // namespace kandinsky::cli
