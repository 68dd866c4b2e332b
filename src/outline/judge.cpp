#include <algorithm>
#include <cmath>
#include <kandinsky/outline.hpp>
#include <limits>
#include <map>

#include "core/base/fail.hpp"
#include "core/base/parallel.hpp"
#include "outline/components.hpp"
#include "outline/records.hpp"

namespace kandinsky {

namespace {
constexpr double kAll = std::numeric_limits<double>::infinity();

struct Counts {
    std::size_t voxels = 0, object = 0, outer = 0, inner = 0, held = 0, wrong = 0;
    std::map<double, ObjectCounts> objects;  // by the upper end of their sizes
};

/// The upper end of the size class of an object.
double upper_end(double size, double small) {
    if (small > 0) return size <= small ? small : kAll;
    double end = 10;
    while (size > end) end *= 10;
    return end;
}

void add_objects(const OutlineRule& rule, const Case& one, std::size_t cls, const std::uint8_t* codes,
                 double small, Counts& to) {
    const outline::ObjectVoxels objects = outline::objects_of(one, cls, rule.connectivity);
    const double voxel = one.spacing[1] * one.spacing[2] * (rule.volumes ? one.spacing[0] : 1);
    for (std::size_t i = 0; i < objects.count(); ++i) {
        const auto own = objects.of(i);
        std::size_t held = 0;
        for (const std::uint32_t v : own) held += codes[v] != kOutside;
        const double end = upper_end(static_cast<double>(own.size()) * voxel, small);
        ObjectCounts& counts = to.objects[end];
        counts.largest = end;
        ++counts.objects;
        counts.touched += held > 0;
        counts.covered += own.size() - held <= outline::allowed_object_misses(rule.share, own.size());
    }
}

void add_case(const OutlineRule& rule, const Case& one, const std::vector<std::uint8_t>& codes, std::size_t c,
              double small, Counts& to) {
    const std::size_t voxels = one.extent.voxels(), cls = rule.classes[c].number;
    const std::uint8_t* const member = one.member.data() + cls * voxels;
    const std::uint8_t* const own = codes.data() + c * voxels;
    for (std::size_t v = 0; v < voxels; ++v) {
        if (one.valid[v] == 0) continue;
        ++to.voxels;
        to.object += member[v];
        to.outer += own[v] != kOutside;
        to.inner += own[v] == kInside;
        to.held += own[v] != kOutside && member[v] != 0;
        to.wrong += own[v] == kInside && member[v] == 0;
    }
    add_objects(rule, one, cls, own, small, to);
}

OutlineJudgement summed(const OutlineRule& rule, const std::vector<std::vector<Counts>>& groups,
                        std::size_t c) {
    OutlineJudgement out;
    std::map<double, ObjectCounts> objects;
    for (const std::vector<Counts>& group : groups) {
        const Counts& one = group[c];
        if (one.voxels == 0) continue;
        if (one.object == 0) {
            ++out.without;
            out.false_inner += one.inner > 0;
            continue;
        }
        std::size_t all = 0, covered = 0;
        for (const auto& [end, counts] : one.objects) {
            ObjectCounts& sum = objects[end];
            sum.largest = end;
            sum.objects += counts.objects, sum.touched += counts.touched, sum.covered += counts.covered;
            all += counts.objects, covered += counts.covered;
        }
        const std::size_t misses = outline::allowed_misses(rule.share, one.object);
        ++out.groups;
        out.held += rule.per == OutlineUnit::object ? covered == all
                                                    : one.object - one.held <= misses && one.wrong <= misses;
        out.found += static_cast<double>(covered) / static_cast<double>(all);
        const auto voxels = static_cast<double>(one.voxels);
        out.object_share += static_cast<double>(one.object) / voxels;
        out.outer_share += static_cast<double>(one.outer) / voxels;
        out.inner_share += static_cast<double>(one.inner) / voxels;
    }
    const double n = std::max<double>(1, static_cast<double>(out.groups));
    out.found /= n, out.object_share /= n, out.outer_share /= n, out.inner_share /= n;
    for (const auto& [end, counts] : objects) out.objects.push_back(counts);
    return out;
}
}  // namespace

std::vector<OutlineJudgement> judge_outlines(const OutlineRule& rule, const CaseSource& cases,
                                             const Calibrator* calibrator, double small, Progress& progress) {
    if (!cases.labelled())
        fail(ErrorKind::usage, "outlines are judged on labelled images; there are no labels");
    if (!(small >= 0) || std::isinf(small))
        fail(ErrorKind::usage, "`small` is {}, but must be a finite number, at least 0", small);
    const std::vector<std::vector<std::size_t>> groups = cases.by_group();
    std::vector<std::vector<Counts>> counts(groups.size(), std::vector<Counts>(rule.classes.size()));
    parallel_for(groups.size(), progress, "judging", [&](std::size_t g) {
        for (const std::size_t i : groups[g]) {
            const Case one = cases.read(i);
            const std::vector<std::uint8_t> codes = outline_case(rule, one, calibrator);
            for (std::size_t c = 0; c < rule.classes.size(); ++c)
                add_case(rule, one, codes, c, small, counts[g][c]);
        }
    });
    std::vector<OutlineJudgement> out;
    for (std::size_t c = 0; c < rule.classes.size(); ++c) out.push_back(summed(rule, counts, c));
    return out;
}

}  // namespace kandinsky
