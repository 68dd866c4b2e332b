#pragma once

#include <map>
#include <string>
#include <vector>

namespace kandinsky {

/// One thing that cross-validation looked at: a method and the values of its options that were up for choice.
struct JudgedMethod {
    std::string method;                        ///< its name
    std::map<std::string, std::string> tuned;  ///< option flag -> value; empty when nothing was to choose
    double loss = 0;  ///< threshold-weighted CRPS, mean over folds and pixels; lower is better
};

/// What cross-validation chose for one stratum, and why.
struct Choice {
    std::string method;                        ///< its name
    std::map<std::string, std::string> tuned;  ///< option flag -> value chosen
    std::string reason;                        ///< a clause: "it has the least loss"
    std::size_t folds = 0;             ///< that could be judged; 0: there was too little data to judge by
    std::vector<JudgedMethod> judged;  ///< in table order; losses are 0 where nothing could be judged
};

/// A judged method for tables and messages: its name, with chosen values behind it as in "kmeans 8".
[[nodiscard]] std::string label_of(const std::string& method,
                                   const std::map<std::string, std::string>& tuned);

}  // namespace kandinsky
