#include <algorithm>
#include <cmath>
#include <kandinsky/cases.hpp>
#include <map>

#include "core/base/fail.hpp"

namespace kandinsky {

namespace {
class DatasetCases : public CaseSource {
  public:
    DatasetCases(const Dataset& data, const DatasetCasesOptions& options) : data_(data), options_(options) {
        for (const double step : options.spacing)
            if (!(step > 0) || !std::isfinite(step))
                fail(ErrorKind::usage, "`spacing` is {}, but must be a finite number above 0", step);
        if (options.volumes && !data.grouped())
            fail(ErrorKind::usage,
                 "`volumes` needs `groups`, which say which images are slices of one volume");
        std::map<std::int64_t, std::size_t> of_group;
        for (std::size_t image = 0; image < data.images(); ++image) {
            const std::int64_t id = data.group_id(image);
            const auto known = of_group.find(id);
            if (options.volumes && known != of_group.end()) {
                images_[known->second].push_back(image);
                continue;
            }
            of_group[id] = images_.size();
            images_.push_back({image});
        }
    }

    [[nodiscard]] std::size_t size() const override { return images_.size(); }
    [[nodiscard]] std::size_t classes() const override { return data_.classes(); }
    [[nodiscard]] bool labelled() const override { return data_.labelled(); }
    [[nodiscard]] std::int64_t group(std::size_t i) const override {
        return data_.group_id(images_[i].front());
    }
    [[nodiscard]] std::string name(std::size_t i) const override {
        return options_.volumes ? std::to_string(group(i)) : std::to_string(images_[i].front());
    }
    [[nodiscard]] LengthUnit unit() const override { return options_.unit; }
    [[nodiscard]] bool volumes() const override { return options_.volumes; }
    [[nodiscard]] std::vector<std::size_t> images(std::size_t i) const override { return images_[i]; }

    [[nodiscard]] Case read(std::size_t i) const override {
        const std::vector<std::size_t>& slices = images_[i];
        const std::size_t pixels = data_.grid().pixels(), classes = data_.classes();
        Case out;
        out.extent = {slices.size(), data_.grid().height, data_.grid().width};
        out.spacing = options_.spacing;
        const std::size_t voxels = out.extent.voxels();
        out.probs.resize(classes * voxels);
        if (data_.labelled()) out.member.resize(classes * voxels), out.valid.resize(voxels);
        std::vector<float> probs(classes * pixels);
        std::vector<std::uint8_t> member(data_.labelled() ? classes * pixels : 0);
        for (std::size_t s = 0; s < slices.size(); ++s) {
            data_.read_probs(slices[s], {0, pixels}, probs);
            if (data_.labelled())
                data_.read_truth(slices[s], {0, pixels}, member, std::span(out.valid).subspan(s * pixels));
            for (std::size_t c = 0; c < classes; ++c) {
                std::copy_n(probs.data() + c * pixels, pixels, out.probs.data() + c * voxels + s * pixels);
                if (data_.labelled())
                    std::copy_n(member.data() + c * pixels, pixels,
                                out.member.data() + c * voxels + s * pixels);
            }
        }
        return out;
    }

  private:
    Dataset data_;
    DatasetCasesOptions options_;
    std::vector<std::vector<std::size_t>> images_;  ///< [case] its slices
};
}  // namespace

std::vector<std::vector<std::size_t>> CaseSource::by_group() const {
    std::map<std::int64_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < size(); ++i) groups[group(i)].push_back(i);
    std::vector<std::vector<std::size_t>> out;
    out.reserve(groups.size());
    for (auto& [id, cases] : groups) out.push_back(std::move(cases));
    return out;
}

std::unique_ptr<CaseSource> cases_of(const Dataset& data, const DatasetCasesOptions& options) {
    return std::make_unique<DatasetCases>(data, options);
}

}  // namespace kandinsky
