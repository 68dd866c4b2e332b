// Compares reading COCO annotations with copying the same bytes. Writes a file of MEGABYTES (500) like
// instances_train2017 to the folder for temporary files, reads it, prints rates and memory, and removes it.
//   coco_reading [MEGABYTES]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <kandinsky/threads.hpp>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/base/stopwatch.hpp"
#include "io/coco/coco.hpp"
#include "io/file/mapped_file.hpp"
#include "io/json/json_outline.hpp"

namespace {
using namespace kandinsky;

/// 80 categories, 7.3 annotations an image, one in a hundred a crowd; the categories last, as in the
/// original.
void write_file(const std::filesystem::path& path, std::size_t megabytes) {
    std::ofstream file(path, std::ios::binary);
    std::string images, text;
    Random random(1);
    std::size_t image_count = megabytes * 260, id = 0, written = 0;
    file << R"({"info": {"year": 2017}, "licenses": [], "images": [)";
    for (std::size_t i = 0; i < image_count; ++i)
        file << fmt::format(
            R"({}{{"license": 3,"file_name": "{:012}.jpg","height": 480,"width": 640,"id": {}}})",
            i == 0 ? "" : ",", i * 7, i * 7);
    file << R"(],"annotations": [)";
    while (written < megabytes * 1000000) {
        text.assign(id == 0 ? 0 : 1, ',');
        const bool crowd = random.below(100) == 0;
        if (crowd) {
            text += R"({"segmentation": {"counts": [)";
            std::size_t total = 0;
            while (total < 480 * 640) {
                const std::size_t run = std::min<std::size_t>(1 + random.below(1500), 480 * 640 - total);
                text += fmt::format("{}{}", total == 0 ? "" : ",", run);
                total += run;
            }
            text += R"(],"size": [480,640]})";
        } else {
            text += R"({"segmentation": [[)";
            const double x = random.uniform(0, 640), y = random.uniform(0, 480), r = random.uniform(5, 120);
            const std::size_t corners = 4 + random.below(50);
            for (std::size_t k = 0; k < corners; ++k) {
                const double angle = 6.283 * static_cast<double>(k) / static_cast<double>(corners);
                text += fmt::format("{}{:.2f},{:.2f}", k == 0 ? "" : ",",
                                    std::clamp(x + r * std::cos(angle), 0.0, 640.0),
                                    std::clamp(y + r * std::sin(angle), 0.0, 480.0));
            }
            text += "]]";
        }
        text += fmt::format(
            R"(,"area": {:.4f},"iscrowd": {},"image_id": {},"bbox": [{:.2f},{:.2f},{:.2f},{:.2f}],)"
            R"("category_id": {},"id": {}}})",
            random.uniform(10, 9999), crowd ? 1 : 0, 7 * random.below(image_count), random.uniform(0, 600),
            random.uniform(0, 400), random.uniform(1, 40), random.uniform(1, 80),
            random.below(10) < 3 ? 1 : 2 + random.below(79), ++id);
        written += text.size();
        file << text;
    }
    file << R"(],"categories": [)";
    for (int c = 1; c <= 80; ++c)
        file << fmt::format(R"({}{{"supercategory": "x","id": {},"name": "{}"}})", c == 1 ? "" : ",", c,
                            c == 1 ? "person" : fmt::format("thing {}", c));
    file << "]}";
}

/// A line of /proc/self/status in megabytes.
std::size_t status(const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key + ":")) return std::stoul(line.substr(key.size() + 1)) / 1000;
    return 0;
}

/// Wall time and processor time; on a busy machine only processor times can be compared.
struct Timer {
    Stopwatch wall;
    std::clock_t start = std::clock();
    [[nodiscard]] double processor() const {
        return static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
    }
};

void report(const std::string& what, double bytes, const Timer& timer, const std::string& more = "") {
    const double wall = timer.wall.seconds(), processor = timer.processor();
    fmt::print("{:40} {:7.2f} s {:6.0f} MB/s; processor {:6.2f} s {:6.0f} MB/s  {}\n", what, wall,
               bytes / 1e6 / wall, processor, bytes / 1e6 / processor, more);
}
std::size_t annotations_in(const CocoFile& file) {
    std::size_t sum = 0;
    for (const CocoImage& image : file.images()) sum += image.annotations;
    return sum;
}
}  // namespace

int main(int argc, char** argv) {
    const std::size_t megabytes = argc > 1 ? std::stoul(argv[1]) : 500;
    const auto path =
        std::filesystem::temp_directory_path() / fmt::format("coco_reading_{}.json", ::getpid());
    write_file(path, megabytes);
    const double bytes = static_cast<double>(std::filesystem::file_size(path));
    {
        const MappedFile file = map_file(path);
        std::vector<char> block(std::size_t{1} << 20);
        for (int round = 0; round < 2; ++round) {
            const Timer watch;
            for (std::size_t at = 0; at < file.bytes.size(); at += block.size())
                std::memcpy(block.data(), file.bytes.data() + at,
                            std::min(block.size(), file.bytes.size() - at));
            report(round == 0 ? "memcpy of the mapped file, first touch" : "memcpy of the mapped file, again",
                   bytes, watch);
        }
        const Timer watch;
        constexpr std::string_view kKeys[] = {"annotations"};
        const auto parts = outline_json({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()},
                                        kKeys, std::size_t{1} << 18, "file");
        report("outline of the JSON alone", bytes, watch, fmt::format("{} runs", parts[0].runs.size()));
    }
    const std::size_t before = status("RssAnon");
    for (const std::size_t threads : {1, 2}) {
        const ThreadLimit limit(threads);
        const Timer watch;
        const CocoFile one(path, {.categories = {"person"}});
        report(fmt::format("one of 80 categories, {} thread(s)", threads), bytes, watch,
               fmt::format("{} annotations of {} images; RssAnon +{} MB", annotations_in(one),
                           one.images().size(), status("RssAnon") - before));
        const Timer drawing;
        const std::size_t images = std::min<std::size_t>(one.images().size(), 5000);
        parallel_for(images, [&](std::size_t i) { (void)one.labels(i); });
        fmt::print("{:40} {:7.2f} s {:6.0f} images/s; processor {:.2f} s\n",
                   fmt::format("  labels of {} images, 640 x 480", images), drawing.wall.seconds(),
                   static_cast<double>(images) / drawing.wall.seconds(), drawing.processor());
    }
    std::vector<std::string> all;
    for (int c = 1; c <= 80; ++c) all.push_back(std::to_string(c));
    const Timer watch;
    const CocoFile every(path, {.categories = all});
    report("all categories", bytes, watch,
           fmt::format("{} annotations; RssAnon +{} MB", annotations_in(every), status("RssAnon") - before));
    fmt::print("peak: {} MB resident, of which the mapped file {:.0f} MB\n", status("VmHWM"), bytes / 1e6);
    std::filesystem::remove(path);
}
