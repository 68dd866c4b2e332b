#pragma once

#include <kandinsky/export.hpp>
#include <map>
#include <string>
#include <vector>

namespace KANDINSKY_API kandinsky {

/// One candidate of cross-validation: a method and, for the options whose values were compared, one value
/// each.
struct JudgedMethod {
    std::string method;                        ///< its name
    std::map<std::string, std::string> tuned;  ///< option flag -> value; empty if no option was compared
    double loss = 0;  ///< threshold-weighted CRPS, mean over folds and pixels; lower is better
};

/// What cross-validation chose for one stratum, and why.
struct Choice {
    std::string method;                        ///< its name
    std::map<std::string, std::string> tuned;  ///< option flag -> value chosen
    std::string reason;                        ///< a clause: "it has the least loss"
    std::size_t folds = 0;             ///< number of folds that could be validated; 0: too little data
    std::vector<JudgedMethod> judged;  ///< the candidates; losses are 0 if nothing could be validated
};

}  // namespace kandinsky
