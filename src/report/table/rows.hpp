#pragma once

#include <algorithm>
#include <vector>

namespace kandinsky {

/// Whether a row is shown: every class when none is asked for, and the row of pooled classes (-1) always.
[[nodiscard]] inline bool is_wanted(int cls, const std::vector<int>& classes) {
    return classes.empty() || cls < 0 || std::find(classes.begin(), classes.end(), cls) != classes.end();
}

}  // namespace kandinsky
