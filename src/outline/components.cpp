#include "outline/components.hpp"

#include <algorithm>
#include <limits>

#include "core/base/fail.hpp"
#include "outline/records.hpp"

namespace kandinsky::outline {

namespace {
/// Disjoint sets of provisional labels; the root of a set is its smallest label.
class Forest {
  public:
    std::uint32_t add() {
        parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
        return parent_.back();
    }
    std::uint32_t root(std::uint32_t label) {
        while (parent_[label] != label) label = parent_[label] = parent_[parent_[label]];
        return label;
    }
    std::uint32_t join(std::uint32_t a, std::uint32_t b) {
        a = root(a), b = root(b);
        if (a > b) std::swap(a, b);
        return parent_[b] = a;
    }
    [[nodiscard]] std::size_t size() const { return parent_.size(); }

  private:
    std::vector<std::uint32_t> parent_{0};  // 0: outside
};

/// The offset to a neighbour that comes before the voxel in memory.
struct Step {
    int z, y, x;
};

std::vector<Step> steps_of(Connectivity connectivity) {
    if (connectivity == Connectivity::faces) return {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    std::vector<Step> out;
    for (int z = -1; z <= 0; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (z < 0 || y < 0 || (y == 0 && x < 0)) out.push_back({z, y, x});
    return out;
}
}  // namespace

Components components(std::span<const std::uint8_t> mask, const Extent& extent, Connectivity connectivity) {
    if (extent.voxels() >= std::numeric_limits<std::uint32_t>::max())
        fail(ErrorKind::data,
             "an image of {} x {} x {} voxels (slices x height x width) is too large for its objects to be "
             "found",
             extent.depth, extent.height, extent.width);
    Components out;
    out.label.assign(mask.size(), 0);
    Forest forest;
    const std::vector<Step> steps = steps_of(connectivity);
    const auto depth = static_cast<std::ptrdiff_t>(extent.depth),
               height = static_cast<std::ptrdiff_t>(extent.height),
               width = static_cast<std::ptrdiff_t>(extent.width);
    std::size_t voxel = 0;
    for (std::ptrdiff_t z = 0; z < depth; ++z)
        for (std::ptrdiff_t y = 0; y < height; ++y)
            for (std::ptrdiff_t x = 0; x < width; ++x, ++voxel) {
                if (mask[voxel] == 0) continue;
                std::uint32_t own = 0;
                for (const Step& step : steps) {
                    const std::ptrdiff_t a = z + step.z, b = y + step.y, c = x + step.x;
                    if (a < 0 || b < 0 || b >= height || c < 0 || c >= width) continue;
                    const std::uint32_t other =
                        out.label[static_cast<std::size_t>((a * height + b) * width + c)];
                    if (other != 0 && other != own) own = own == 0 ? other : forest.join(own, other);
                }
                out.label[voxel] = own != 0 ? own : forest.add();
            }
    // A root is the smallest label of its set, so roots ascend with the first voxels of the components.
    std::vector<std::uint32_t> number(forest.size(), 0);
    for (std::uint32_t label = 1; label < forest.size(); ++label) {
        const std::uint32_t root = forest.root(label);
        number[label] = root == label ? ++out.count : number[root];
    }
    for (std::uint32_t& label : out.label) label = number[label];
    return out;
}

ObjectVoxels objects_of(const Case& one, std::size_t cls, Connectivity connectivity) {
    const std::size_t voxels = one.extent.voxels();
    const std::uint8_t* const member = one.member.data() + cls * voxels;
    std::vector<std::uint8_t> mask(voxels);
    for (std::size_t v = 0; v < voxels; ++v) mask[v] = member[v] & one.valid[v];
    const Components found = components(mask, one.extent, connectivity);
    ObjectVoxels out;
    out.begin.assign(found.count + std::size_t{1}, 0);
    for (const std::uint32_t label : found.label)
        if (label != 0) ++out.begin[label];
    for (std::size_t i = 1; i < out.begin.size(); ++i) out.begin[i] += out.begin[i - 1];
    out.voxel.resize(out.begin.back());
    std::vector<std::size_t> place(out.begin.begin(), out.begin.end() - 1);
    for (std::size_t v = 0; v < voxels; ++v)
        if (found.label[v] != 0) out.voxel[place[found.label[v] - 1]++] = static_cast<std::uint32_t>(v);
    return out;
}

std::size_t allowed_object_misses(double share, std::size_t object) {
    return std::min(allowed_misses(share, object), object - 1);
}

}  // namespace kandinsky::outline
