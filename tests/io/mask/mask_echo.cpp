// Masks for the comparison with pycocotools: reads lines "polygon HEIGHT WIDTH PARTS (COUNT NUMBER...)..."
// and "runs HEIGHT WIDTH TEXT" and writes the masks, one byte a pixel, row by row, one after another. A line
// that is refused gives a mask of bytes 2.
#include <iostream>
#include <kandinsky/error.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "io/mask/mask.hpp"

int main() {
    using namespace kandinsky;
    std::ios::sync_with_stdio(false);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string kind;
        Grid grid;
        words >> kind >> grid.height >> grid.width;
        std::vector<std::uint8_t> mask(grid.pixels());
        try {
            if (kind == "polygon") {
                std::size_t parts = 0;
                words >> parts;
                for (std::size_t part = 0; part < parts; ++part) {
                    std::size_t count = 0;
                    words >> count;
                    std::vector<double> points(count);
                    for (double& value : points) {
                        std::string word;
                        words >> word;
                        value = std::stod(word);
                    }
                    fill_polygon(points, grid, mask.data());
                }
            } else {
                std::string text;
                words >> text;
                fill_run_lengths(unpack_run_lengths(text, grid.pixels(), "runs"), grid, mask.data(), "runs");
            }
        } catch (const Error&) {
            mask.assign(grid.pixels(), 2);
        }
        std::cout.write(reinterpret_cast<const char*>(mask.data()),
                        static_cast<std::streamsize>(mask.size()));
    }
}
